import { useEffect, useState } from 'preact/hooks';
import { toolErrorKinds } from '../../../environments/environment.ts';
import type { SampleQuery } from '../../api.ts';
import { describeError } from './conversation.tsx';

/** The filters as typed. */
export interface SampleFilters {
  readonly search: string;
  readonly fromStep: string;
  readonly toStep: string;
  readonly minScore: string;
  readonly maxScore: string;
  /** The name of a tool. */
  readonly tool: string;
  /** A kind of error of a tool, or `any`. */
  readonly toolError: string;
}

export type SortKey = NonNullable<SampleQuery['sort']>;

export interface SampleSort {
  readonly sort: SortKey;
  readonly order: 'asc' | 'desc';
}

export const noFilters: SampleFilters = {
  search: '',
  fromStep: '',
  toStep: '',
  minScore: '',
  maxScore: '',
  tool: '',
  toolError: '',
};

const toolErrors = ['any', ...toolErrorKinds];

export const newestFirst: SampleSort = { sort: 'step', order: 'desc' };

/** Delay in milliseconds between the last key and the change of the list. */
const TYPING_DELAY = 250;

const ranges = [
  { title: 'Step', boxes: ['fromStep', 'toStep'], step: '1' },
  { title: 'Score', boxes: ['minScore', 'maxScore'], step: 'any' },
] as const;

/** Search box and ranges; reports the filters once typing pauses. */
export function SampleFilterForm({
  filters,
  hasTools,
  onChange,
}: {
  readonly filters: SampleFilters;
  /** Whether the run has tools to filter by. */
  readonly hasTools: boolean;
  readonly onChange: (filters: SampleFilters) => void;
}) {
  const [typed, setTyped] = useState(filters);
  useEffect(() => {
    if (typed === filters) return undefined;
    const timer = setTimeout(() => onChange(typed), TYPING_DELAY);
    return () => clearTimeout(timer);
  }, [typed]);
  const set =
    (name: keyof SampleFilters) =>
    (event: { currentTarget: HTMLInputElement | HTMLSelectElement }) => {
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
      {hasTools && (
        <fieldset class="samples-range samples-tools">
          <legend>Tool</legend>
          <input
            aria-label="Name of a tool"
            placeholder="name"
            value={typed.tool}
            onInput={set('tool')}
          />
          <select aria-label="Error of a tool" value={typed.toolError} onChange={set('toolError')}>
            <option value="">with or without errors</option>
            {toolErrors.map((kind) => (
              <option key={kind} value={kind}>
                {kind === 'any' ? 'any error' : describeError(kind)}
              </option>
            ))}
          </select>
        </fieldset>
      )}
      <button type="button" disabled={isEmpty} onClick={() => setTyped(noFilters)}>
        Clear
      </button>
    </search>
  );
}

/** The query of the filters; a box without a number is ignored.
 *  @example search ' cat ', fromStep '3', maxScore '-'  →  { search: 'cat', fromStep: 3 } */
export function toQuery(filters: SampleFilters, sort: SampleSort): SampleQuery {
  return {
    ...sort,
    ...readText('search', filters),
    ...readText('tool', filters),
    ...readText('toolError', filters),
    ...readNumber('fromStep', filters),
    ...readNumber('toStep', filters),
    ...readNumber('minScore', filters),
    ...readNumber('maxScore', filters),
  };
}

function readText(name: 'search' | 'tool' | 'toolError', filters: SampleFilters): SampleQuery {
  const text = filters[name].trim();
  return text === '' ? {} : { [name]: text };
}

function readNumber(
  name: Exclude<keyof SampleFilters, 'search' | 'tool' | 'toolError'>,
  filters: SampleFilters,
): SampleQuery {
  const text = filters[name].trim();
  const value = Number(text);
  return text === '' || !Number.isFinite(value) ? {} : { [name]: value };
}

/** The sort order after a click on a column header: a new column starts descending, the same one is
 *  reversed. */
export function nextSort(current: SampleSort, sort: SortKey): SampleSort {
  if (current.sort !== sort) return { sort, order: 'desc' };
  return { sort, order: current.order === 'desc' ? 'asc' : 'desc' };
}
