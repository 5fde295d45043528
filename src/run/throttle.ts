/** Does something at once, and then at most once in an interval: what is asked for in between is done
 *  at its end.
 *  @example asked for at 0, 0.1, 0.2 and 5 s, interval 1 s  →  done at 0, 1 and 5 s */
export class Throttle {
  private readonly run: () => void;
  private readonly interval: number;
  private timer: NodeJS.Timeout | undefined;
  private isAsked = false;

  /** @param interval milliseconds */
  constructor(run: () => void, interval: number) {
    this.run = run;
    this.interval = interval;
  }

  ask(): void {
    this.isAsked = true;
    if (this.timer === undefined) this.next();
  }

  /** Forgets what was asked for. */
  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.isAsked = false;
  }

  private next(): void {
    this.timer = undefined;
    if (!this.isAsked) return;
    this.isAsked = false;
    this.run();
    this.timer = setTimeout(() => this.next(), this.interval);
    this.timer.unref();
  }
}
