/** Counts tokens and tells how fast they came. */
export class SpeedMeter {
  tokens = 0;
  private readonly now: () => number;
  private first = 0;
  private last = 0;

  /** @param now the time in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  count(): void {
    this.last = this.now();
    if (this.tokens === 0) this.first = this.last;
    this.tokens++;
  }

  /** Speed is counted from the first token on: what comes before is the prompt.
   *  @example '50 tokens, 118 tokens/s' */
  describe(): string {
    const seconds = (this.last - this.first) / 1000;
    const speed = (this.tokens - 1) / seconds;
    const amount = `${this.tokens} ${this.tokens === 1 ? 'token' : 'tokens'}`;
    return seconds > 0 ? `${amount}, ${formatSpeed(speed)} tokens/s` : amount;
  }
}

function formatSpeed(speed: number): string {
  return speed.toFixed(speed < 10 ? 1 : 0);
}
