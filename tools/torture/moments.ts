import type { RandomStream } from '../../src/engine/random/index.ts';
import { momentOf, type Operation, sortOf } from './fs-journal.ts';
import type { Twin } from './runs.ts';

/** An operation of a twin. */
export interface ChosenOperation {
  readonly number: number;
  /** The moment before it in any run of this kind, as the layer below file operations knows it. */
  readonly moment: string;
}

/** Chooses a random operation of a twin. Every sort is equally likely, such as all renames of run.json.
 *  The number of operations differs a little from run to run, because a run shows its phase about once a
 *  second; the sorts are the same.
 *  @param options.after a checkpoint from which the run resumes: only later operations are possible, and the
 *    moment is counted from there */
export function chooseOperation(
  { operations }: Twin,
  { random, after }: { readonly random: RandomStream; readonly after?: string | undefined },
): ChosenOperation {
  const start = after === undefined ? 0 : findEnd(operations, after);
  const sorts = sortOperations(operations, start);
  const [sort, numbers] = sorts[random.integer(sorts.length)]!;
  const n = Math.floor(random.next() * numbers.length);
  return { number: numbers[n]!, moment: momentOf(sort, n) };
}

/** Number of the operation after a checkpoint is complete. */
function findEnd(operations: readonly Operation[], checkpoint: string): number {
  const isEnd = (it: Operation) => it.op === 'rename' && it.to === `checkpoints/${checkpoint}`;
  return operations.findIndex(isEnd) + 1;
}

type OperationSort = readonly [sort: string, numbers: readonly number[]];

/** Numbers of the operations from `start` on, by sort. */
function sortOperations(operations: readonly Operation[], start: number): readonly OperationSort[] {
  const paths = new Map<number, string>();
  const sorts = new Map<string, number[]>();
  for (const [number, operation] of operations.entries()) {
    if (operation.op === 'open') paths.set(operation.handle, operation.path);
    if (number < start) continue;
    const path = operation.op === 'rename' ? operation.to : pathOf(operation, paths);
    const sort = sortOf(operation.op, path);
    sorts.set(sort, [...(sorts.get(sort) ?? []), number]);
  }
  return [...sorts].sort(([a], [b]) => (a < b ? -1 : 1));
}

function pathOf(
  operation: Exclude<Operation, { op: 'rename' }>,
  paths: ReadonlyMap<number, string>,
): string {
  return 'path' in operation ? operation.path : paths.get(operation.handle)!;
}
