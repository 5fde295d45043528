/**
 * Lets text through as it comes, up to the first stop string. What may be the start of one waits
 * until it is certain.
 */
export class StopFilter {
  private readonly stops: readonly string[];
  private waiting = '';
  private found = false;

  constructor(stops: readonly string[]) {
    this.stops = stops;
  }

  /** Whether a stop string came. */
  get isStopped(): boolean {
    return this.found;
  }

  /** The text that is certain now. */
  push(text: string): string {
    if (this.found) return '';
    this.waiting += text;
    const places = this.stops.map((stop) => this.waiting.indexOf(stop)).filter((at) => at >= 0);
    if (places.length === 0) return this.take(this.waiting.length - this.unsure());
    this.found = true;
    return this.take(Math.min(...places));
  }

  /** The text that was held back, when no more will come. */
  finish(): string {
    return this.found ? '' : this.take(this.waiting.length);
  }

  /** Length of the longest end of the text that a stop string starts with. */
  private unsure(): number {
    const longest = Math.max(0, ...this.stops.map((stop) => stop.length - 1));
    for (let length = Math.min(longest, this.waiting.length); length > 0; length--) {
      const end = this.waiting.slice(-length);
      if (this.stops.some((stop) => stop.startsWith(end))) return length;
    }
    return 0;
  }

  private take(length: number): string {
    const text = this.waiting.slice(0, length);
    this.waiting = this.waiting.slice(length);
    return text;
  }
}
