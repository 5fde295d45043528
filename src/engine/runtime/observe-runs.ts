/** One run of a compiled graph. */
export interface RunRecord {
  /** In ONNX Runtime, feeds and outputs included. */
  readonly milliseconds: number;
  /** Of the graph's products, at the sizes of the run. */
  readonly flops: number;
}

type RunListener = (record: RunRecord) => void;

const listeners = new Set<RunListener>();

/** Whether anybody wants to know of runs. */
export function isObserved(): boolean {
  return listeners.size > 0;
}

export function tellRun(record: RunRecord): void {
  for (const listener of listeners) listener(record);
}

/** Has every run of every graph told to a listener; the function that is returned ends it.
 *  @example
 *  const end = observeRuns(({ flops }) => { sum += flops; }); */
export function observeRuns(listener: RunListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
