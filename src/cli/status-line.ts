import type { Output } from './terminal.ts';

export interface StatusLineOptions {
  /** All outputs that may share the terminal: standard output and standard error by default. */
  readonly shared?: readonly Output[];
}

const erase = '\r\x1b[K';

/** One line of a terminal that changes; elsewhere it writes nothing. While it is shown, other
 *  output of the process, such as a reward that calls `console.log`, appears above it. */
export class StatusLine {
  private readonly output: Output;
  private readonly shared: readonly Output[];
  /** What the line shows; undefined if it is not shown. */
  private text: string | undefined;
  /** Other output that has no line feed yet. */
  private incomplete = '';
  /** The original `write` of each output while the line is shown. */
  private readonly writes = new Map<Output, Output['write']>();
  private readonly clearAtExit = () => this.clear();

  constructor(
    output: Output = process.stderr,
    { shared = [process.stdout, process.stderr] }: StatusLineOptions = {},
  ) {
    this.output = output;
    this.shared = [output, ...shared.filter((other) => other !== output)];
  }

  /** The longest text that fits: a full line would wrap and could not be removed. */
  get width(): number {
    return (this.output.columns || 80) - 1;
  }

  show(text: string): void {
    if (!this.output.isTTY) return;
    if (this.text === undefined) this.watch();
    this.text = text;
    this.write(this.output, erase + text);
  }

  clear(): void {
    if (this.text === undefined) return;
    this.text = undefined;
    const rest = this.incomplete === '' ? '' : `${this.incomplete}\n`;
    this.incomplete = '';
    this.write(this.output, erase + rest);
    this.unwatch();
  }

  private watch(): void {
    for (const output of this.shared.filter(({ isTTY }) => isTTY)) {
      const { write } = output;
      this.writes.set(output, write);
      output.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
        const callback = rest.find((argument) => typeof argument === 'function');
        this.writeAbove(output, typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
        if (callback !== undefined) queueMicrotask(callback as () => void);
        return true;
      };
    }
    process.on('exit', this.clearAtExit);
  }

  private unwatch(): void {
    for (const [output, write] of this.writes) output.write = write;
    this.writes.clear();
    process.off('exit', this.clearAtExit);
  }

  /** Writes complete lines above the status; the rest waits for its line feed. */
  private writeAbove(output: Output, text: string): void {
    const all = this.incomplete + text;
    const end = all.lastIndexOf('\n') + 1;
    this.incomplete = all.slice(end);
    if (end === 0) return;
    this.write(this.output, erase);
    this.write(output, all.slice(0, end));
    this.write(this.output, this.text ?? '');
  }

  private write(output: Output, text: string): void {
    this.writes.get(output)!.call(output, text);
  }
}
