import { useMemo } from 'preact/hooks';
import type { TokenColumns } from '../../api.ts';
import { formatNumber } from '../samples/format-number.ts';
import { barsPath, linePath, type StripGeometry, stripGeometry } from './strip-geometry.ts';

interface TokenStripsProps {
  readonly columns: TokenColumns;
  readonly shown: number;
  readonly onChoose: (t: number) => void;
  /** Whether a key led to another token. */
  readonly onKey: (key: string) => boolean;
}

/** Value, reward and advantage along the tokens; a click or an arrow key chooses one. */
export function TokenStrips({ columns, shown, onChoose, onKey }: TokenStripsProps) {
  const { values, rewards, advantages, ids } = columns;
  const count = ids.length;
  const steps = Math.max(count, rewards.length);
  const strips = useMemo(
    () => [
      { name: 'Value', numbers: values, geometry: stripGeometry(values), isLine: true },
      { name: 'Reward', numbers: rewards, geometry: stripGeometry(rewards), isLine: false },
      {
        name: 'Advantage',
        numbers: advantages,
        geometry: stripGeometry(advantages),
        isLine: false,
      },
    ],
    [columns],
  );
  const choose = (event: PointerEvent & { readonly currentTarget: HTMLElement }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const place = Math.floor((steps * (event.clientX - left)) / width);
    onChoose(Math.min(Math.max(0, place), count - 1));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (onKey(event.key)) event.preventDefault();
  };
  const summary = strips.map(({ name, numbers }) => `${name} ${formatNumber(numbers[shown])}`);
  return (
    <div class="tokens-strips">
      <div class="tokens-strip-names" aria-hidden="true">
        {strips.map(({ name, geometry, numbers }) => (
          <StripName key={name} name={name} geometry={geometry} now={numbers[shown]} />
        ))}
      </div>
      <div
        class="tokens-strip-box"
        role="slider"
        tabIndex={0}
        aria-label="Token along the response"
        aria-valuemin={1}
        aria-valuemax={count}
        aria-valuenow={shown + 1}
        aria-valuetext={`Token ${shown + 1} of ${count}: ${summary.join(', ')}`}
        onPointerDown={choose}
        onPointerMove={(event) => event.buttons === 1 && choose(event)}
        onKeyDown={onKeyDown}
      >
        {strips.map(({ name, geometry, isLine }) => (
          <Strip key={name} {...{ geometry, isLine, steps, shown }} />
        ))}
      </div>
    </div>
  );
}

function StripName({
  name,
  geometry,
  now,
}: {
  readonly name: string;
  readonly geometry: StripGeometry;
  readonly now: number | undefined;
}) {
  return (
    <div>
      <span class="tokens-muted">{formatNumber(geometry.max)}</span>
      <span>
        {name} <strong>{formatNumber(now)}</strong>
      </span>
      <span class="tokens-muted">{formatNumber(geometry.min)}</span>
    </div>
  );
}

function Strip({
  geometry,
  isLine,
  steps,
  shown,
}: {
  readonly geometry: StripGeometry;
  readonly isLine: boolean;
  readonly steps: number;
  readonly shown: number;
}) {
  const { zero } = geometry;
  return (
    <svg viewBox={`0 0 ${steps} 1`} preserveAspectRatio="none" aria-hidden="true">
      <rect class="tokens-strip-shown" x={shown} y="-1" width="1" height="3" />
      <path class="tokens-strip-zero" d={`M0 ${zero}H${steps}`} />
      {isLine ? (
        <path class="tokens-strip-line" d={linePath(geometry)} />
      ) : (
        <>
          <path class="tokens-strip-above" d={barsPath(geometry, 'above')} />
          <path class="tokens-strip-below" d={barsPath(geometry, 'below')} />
        </>
      )}
    </svg>
  );
}
