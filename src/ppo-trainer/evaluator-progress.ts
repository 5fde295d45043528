/** How far an evaluation is, in responses: each counts once when it is made and once when measured. */
export interface EvaluationProgress {
  readonly done: number;
  readonly total: number;
}

interface ProgressOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: EvaluationProgress) => void) | undefined;
}

/** Counts the work of one evaluation and ends it when its user says so. */
export class ProgressCounter {
  readonly signal: AbortSignal | undefined;
  private readonly total: number;
  private readonly onProgress: ProgressOptions['onProgress'];
  private done = 0;

  constructor(total: number, { signal, onProgress }: ProgressOptions) {
    this.total = total;
    this.signal = signal;
    this.onProgress = onProgress;
  }

  advance(count: number): void {
    this.done += count;
    this.onProgress?.({ done: this.done, total: this.total });
    this.signal?.throwIfAborted();
  }
}
