import { useEffect, useState } from 'preact/hooks';
import { noFilters, type SampleFilters } from './sample-query.ts';

/** Milliseconds without a key after which the list follows. */
const TYPING_PAUSE = 250;

const ranges = [
  { title: 'Step', boxes: ['fromStep', 'toStep'], step: '1' },
  { title: 'Score', boxes: ['minScore', 'maxScore'], step: 'any' },
] as const;

/** Search box and ranges; tells the filters once typing pauses. */
export function SampleFilterForm({
  filters,
  onChange,
}: {
  readonly filters: SampleFilters;
  readonly onChange: (filters: SampleFilters) => void;
}) {
  const [typed, setTyped] = useState(filters);
  useEffect(() => {
    if (typed === filters) return undefined;
    const timer = setTimeout(() => onChange(typed), TYPING_PAUSE);
    return () => clearTimeout(timer);
  }, [typed]);
  const set = (name: keyof SampleFilters) => (event: { currentTarget: HTMLInputElement }) => {
    const { value } = event.currentTarget;
    setTyped((now) => ({ ...now, [name]: value }));
  };
  const isEmpty = Object.values(typed).every((text) => text === '');
  return (
    <search class="samples-filters">
      <input
        type="search"
        class="samples-search"
        aria-label="Search prompts and responses"
        placeholder="Search prompts and responses"
        value={typed.search}
        onInput={set('search')}
      />
      {ranges.map(({ title, boxes: [low, high], step }) => (
        <fieldset class="samples-range" key={title}>
          <legend>{title}</legend>
          {[low, high].map((name, i) => (
            <input
              key={name}
              type="number"
              step={step}
              placeholder={i === 0 ? 'from' : 'to'}
              aria-label={`${title} ${i === 0 ? 'from' : 'to'}`}
              value={typed[name]}
              onInput={set(name)}
            />
          ))}
        </fieldset>
      ))}
      <button type="button" disabled={isEmpty} onClick={() => setTyped(noFilters)}>
        Clear
      </button>
    </search>
  );
}
