import type { RewardSample } from '../reward-source.ts';
import type { FromSample } from './library-reward.ts';

/** A column's name, to be checked with the other options; a function needs no check. */
export function nameColumn(from: FromSample<unknown>): string {
  return typeof from === 'function' ? 'a function' : from;
}

/** What a sample's column or the user's function holds, checked.
 *  @param options.expected what it must be, to follow "must be": `text` */
export function readColumn<T>(
  sample: RewardSample,
  { from, expected, accepts }: ColumnOptions<T>,
): T {
  const value = typeof from === 'function' ? from(sample) : sample.row?.[from];
  if (accepts(value)) return value;
  const place =
    typeof from === 'function' ? 'what the function returns for' : `column "${from}" of`;
  const known = Object.keys(sample.row ?? {}).join(', ') || 'no columns';
  const remedy = typeof from === 'function' ? '' : `; its row has ${known}`;
  throw new TypeError(
    `${place} prompt ${sample.promptIdx} must be ${expected}, got ${show(value)}${remedy}`,
  );
}

export interface ColumnOptions<T> {
  readonly from: FromSample<T>;
  readonly expected: string;
  accepts(value: unknown): value is T;
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value)).slice(0, 60);
}
