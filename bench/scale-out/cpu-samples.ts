/** Processor time of this process at any moment of a measurement, to a few milliseconds. */
export class CpuSamples {
  private readonly samples: { readonly at: number; readonly cpu: number }[] = [];
  private readonly timer: NodeJS.Timeout;

  constructor() {
    this.sample();
    this.timer = setInterval(() => this.sample(), 5);
  }

  /** Seconds of processor time between two moments, in milliseconds since 1970. */
  between(start: number, end: number): number {
    return Math.max(0, this.at(end) - this.at(start));
  }

  stop(): void {
    clearInterval(this.timer);
    this.sample();
  }

  private sample(): void {
    const { user, system } = process.cpuUsage();
    this.samples.push({ at: Date.now(), cpu: (user + system) / 1e6 });
  }

  private at(time: number): number {
    const after = this.samples.findIndex(({ at }) => at >= time);
    const next = this.samples.at(after)!;
    const before = this.samples[after - 1] ?? next;
    const share = next.at > before.at ? (time - before.at) / (next.at - before.at) : 0;
    return before.cpu + Math.min(1, share) * (next.cpu - before.cpu);
  }
}
