import { dim, type Output } from './terminal.ts';
import { formatBytes, formatSeconds } from './units.ts';

export interface ProgressLineOptions {
  /** Standard error by default. */
  readonly output?: Output;
  /** The time in milliseconds. */
  readonly now?: () => number;
}

/** What has come of something that is being transferred. */
export interface Progress {
  readonly label: string;
  readonly receivedBytes: number;
  readonly totalBytes: number;
}

const WIDEST_BAR = 24;
const NARROWEST_BAR = 4;
/** Milliseconds between two writes: a terminal's line changes, elsewhere lines are added. */
const INTERVAL = { terminal: 100, plain: 10_000 };

/** Shows how far a download is: on a terminal as one line that changes, elsewhere as a line now and then.
 *  @example model.safetensors ━━━━━━━━━━━━──────────── 50 %  596 MB of 1.19 GB  25.0 MB/s  24 s left */
export class ProgressLine {
  private readonly output: Output;
  private readonly now: () => number;
  private first: { readonly time: number; readonly bytes: number } | undefined;
  private last: Progress | undefined;
  private writtenAt = Number.NEGATIVE_INFINITY;
  private isShown = false;

  constructor({
    output = process.stderr,
    now = () => performance.now(),
  }: ProgressLineOptions = {}) {
    this.output = output;
    this.now = now;
  }

  update(progress: Progress): void {
    const time = this.now();
    this.first ??= { time, bytes: progress.receivedBytes };
    this.last = progress;
    const interval = this.output.isTTY ? INTERVAL.terminal : INTERVAL.plain;
    if (time - this.writtenAt < interval) return;
    this.writtenAt = time;
    this.write(progress, time);
  }

  /** Takes the line away; one plain line stays. */
  finish(): void {
    this.clear();
    if (this.first === undefined || this.last === undefined) return;
    const seconds = (this.now() - this.first.time) / 1000;
    const text = `Downloaded ${formatBytes(this.last.receivedBytes)} in ${formatSeconds(seconds)}`;
    this.output.write(`${dim(text, this.output)}\n`);
  }

  /** Takes the line away, for other text or an early end. */
  clear(): void {
    if (this.isShown) this.output.write('\r\x1b[K');
    this.isShown = false;
  }

  private write(progress: Progress, time: number): void {
    const { label, receivedBytes, totalBytes } = progress;
    const part = totalBytes === 0 ? 1 : receivedBytes / totalBytes;
    const amount = `${formatBytes(receivedBytes)} of ${formatBytes(totalBytes)}`;
    const percent = `${Math.floor(100 * part)} %`.padStart(6);
    const rest = [percent, amount, ...this.describeSpeed(progress, time)].join('  ');
    if (!this.output.isTTY) {
      this.output.write(`${label} ${rest.trimStart()}\n`);
      return;
    }
    // A line that fills the terminal would wrap, and then it could not be taken away.
    const width = (this.output.columns || 80) - 1;
    const bar = drawBar(part, width - label.length - rest.length - 1);
    this.output.write(`\r\x1b[K${`${label} ${bar}${rest}`.slice(0, width)}`);
    this.isShown = true;
  }

  /** Speed since the first update, and what it promises; nothing in the first half second. */
  private describeSpeed({ receivedBytes, totalBytes }: Progress, time: number): string[] {
    if (this.first === undefined || time - this.first.time < 500) return [];
    const speed = (1000 * (receivedBytes - this.first.bytes)) / (time - this.first.time);
    if (speed <= 0) return [];
    const left = (totalBytes - receivedBytes) / speed;
    return [`${formatBytes(speed)}/s`, `${formatSeconds(left)} left`];
  }
}

/** A bar that is full at part = 1, or none where there is no room for it. */
function drawBar(part: number, room: number): string {
  if (room < NARROWEST_BAR) return '';
  const width = Math.min(room, WIDEST_BAR);
  const filled = Math.round(width * part);
  return '━'.repeat(filled) + '─'.repeat(width - filled);
}
