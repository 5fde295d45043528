import type { Metrics } from './records.ts';

/** Sum and count of each metric over an epoch's steps so far; JSON-able. */
export type EpochState = Record<string, [sum: number, count: number]>;

/** Averages metrics over the steps of an epoch in which they are numbers. */
export class EpochAverages {
  private held: EpochState = {};

  add(metrics: Metrics): void {
    for (const [name, x] of Object.entries(metrics)) {
      if (!Number.isFinite(x)) continue;
      const [sum, count] = this.held[name] ?? [0, 0];
      this.held[name] = [sum + x, count + 1];
    }
  }

  /** The means since the last call, which starts a new epoch. */
  take(): Metrics {
    const means = Object.entries(this.held).map(([name, [sum, count]]) => [name, sum / count]);
    this.held = {};
    return Object.fromEntries(means);
  }

  state(): EpochState {
    return { ...this.held };
  }

  restore(state: EpochState): void {
    this.held = { ...state };
  }
}
