import { useMemo } from 'preact/hooks';
import type { TokenColumns } from '../../api.ts';
import { formatFixed, formatNumber } from '../format.ts';
import { extentOf, fractionBetween } from '../samples/score-plot.tsx';

interface TokenStripsProps {
  readonly columns: TokenColumns;
  readonly shown: number;
  readonly onSelect: (t: number) => void;
  /** Returns whether the key moved the selection. */
  readonly onKey: (key: string) => boolean;
}

/** Value, reward and advantage along the response; a click or an arrow key selects a token. */
export function TokenStrips({ columns, shown, onSelect, onKey }: TokenStripsProps) {
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
  const selectAt = (event: PointerEvent & { readonly currentTarget: HTMLElement }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const t = Math.floor((steps * (event.clientX - left)) / width);
    onSelect(Math.min(Math.max(0, t), count - 1));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (onKey(event.key)) event.preventDefault();
  };
  const summary = strips.map(({ name, numbers }) => `${name} ${formatNumber(numbers[shown])}`);
  return (
    <div class="tokens-strips">
      <div class="tokens-strip-names" aria-hidden="true">
        {strips.map(({ name, geometry, numbers }) => (
          <StripName key={name} name={name} geometry={geometry} current={numbers[shown]} />
        ))}
      </div>
      <div
        class="tokens-strip-box"
        role="slider"
        tabIndex={0}
        aria-label="Position in the response"
        aria-valuemin={1}
        aria-valuemax={count}
        aria-valuenow={shown + 1}
        aria-valuetext={`Token ${shown + 1} of ${count}: ${summary.join(', ')}`}
        onPointerDown={selectAt}
        onPointerMove={(event) => event.buttons === 1 && selectAt(event)}
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
  current,
}: {
  readonly name: string;
  readonly geometry: StripGeometry;
  readonly current: number | undefined;
}) {
  return (
    <div>
      <span class="tokens-muted">{formatNumber(geometry.max)}</span>
      <span>
        {name} <strong>{formatFixed(current, 4)}</strong>
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

/** A column drawn in a box of 1 × 1 with y downwards; 0 is always visible. */
interface StripGeometry {
  readonly min: number;
  readonly max: number;
  /** y of 0. */
  readonly zero: number;
  /** y of each step's number; undefined if it is not finite. */
  readonly ys: readonly (number | undefined)[];
}

/** The y coordinates of a column's numbers.
 *  @example [1, −1, 0]  →  zero ½, ys [0, 1, ½] */
export function stripGeometry(numbers: readonly (number | null)[]): StripGeometry {
  const { min, max } = extentOf([...numbers, 0]) ?? { min: 0, max: 0 };
  const y = (x: number) => 1 - fractionBetween(x, { min, max });
  const ys = numbers.map((x) => (x === null || !Number.isFinite(x) ? undefined : y(x)));
  return { min, max, zero: y(0), ys };
}

/** SVG path of a line through the middle of each step, in a box of `steps` × 1. */
export function linePath({ ys }: StripGeometry): string {
  let path = '';
  ys.forEach((y, t) => {
    if (y === undefined) return;
    path += `${path === '' || ys[t - 1] === undefined ? 'M' : 'L'}${t + 0.5} ${y.toFixed(4)}`;
  });
  return path;
}

/** SVG path of the bars from 0 to each number, on one side of 0 only. */
export function barsPath({ ys, zero }: StripGeometry, side: 'above' | 'below'): string {
  let path = '';
  ys.forEach((y, t) => {
    if (y === undefined || (side === 'above' ? y >= zero : y <= zero)) return;
    path += `M${t + 0.1} ${zero.toFixed(4)}V${y.toFixed(4)}h0.8V${zero.toFixed(4)}z`;
  });
  return path;
}
