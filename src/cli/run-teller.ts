import type { TrainEvent } from '../loop/events.ts';
import { Interruption } from './failure.ts';
import { keyHelp, RunKeys } from './run-keys.ts';
import { dim, type Output } from './terminal.ts';
import { quote, shorten } from './train/shorten.ts';
import type { TrainView } from './train/train-view.ts';

/** What tells of a run. */
export interface RunTeller<R> {
  handle(event: TrainEvent): void;
  /** The user wants the run to end. */
  interrupt(): void;
  end(result: R): void;
  /** Before the error is shown. */
  fail(): void;
  /** Once the run is over. */
  close(): void;
}

/** Has a run told to its end, whatever that is. */
export async function reportRun<R extends { readonly reason: string }>(
  teller: RunTeller<R>,
  signal: AbortSignal,
  run: (onEvent: (event: TrainEvent) => void) => Promise<R>,
): Promise<void> {
  signal.addEventListener('abort', () => teller.interrupt());
  let result: R;
  try {
    result = await run((event) => teller.handle(event));
  } catch (error) {
    if (!signal.aborted) teller.fail();
    throw error;
  } finally {
    teller.close();
  }
  teller.end(result);
  if (result.reason === 'interrupted') throw new Interruption();
}

interface PeopleTellerOptions<R> {
  /** `proximal <command>` */
  readonly command: string;
  /** Where the run lies. */
  readonly folder: string;
  readonly view: TrainView;
  /** How a run that was not interrupted ended. */
  readonly summarize: (
    result: R,
    context: { readonly seconds: number; readonly output: Output },
  ) => string;
}

/** Tells people: progress on standard error, the summary on standard output. */
export class PeopleTeller<R extends { readonly reason: string; readonly message: string }>
  implements RunTeller<R>
{
  private readonly options: PeopleTellerOptions<R>;
  private readonly start = performance.now();
  private hasBegun = false;
  private keys: RunKeys | undefined;

  constructor(options: PeopleTellerOptions<R>) {
    this.options = options;
  }

  handle(event: TrainEvent): void {
    if (event.type === 'control') this.tellChange(event);
    else this.options.view.handle(event);
    if (event.type === 'run-start') this.begin();
  }

  interrupt(): void {
    this.options.view.print('Ending in order; Ctrl-C again ends at once');
  }

  end(result: R): void {
    const { view, summarize } = this.options;
    view.clear();
    const seconds = (performance.now() - this.start) / 1000;
    const output = process.stdout;
    const text =
      result.reason === 'interrupted'
        ? `${result.message}:\n  ${this.resumption()}`
        : summarize(result, { seconds, output });
    output.write(`${text}\n`);
  }

  fail(): void {
    const { view } = this.options;
    view.clear();
    if (!this.hasBegun) return;
    view.print(`The run failed; once its cause is gone: ${this.resumption()}`);
  }

  close(): void {
    this.keys?.close();
  }

  private begin(): void {
    const { view, folder } = this.options;
    this.hasBegun = true;
    this.keys = RunKeys.open(folder, (line) => view.print(line));
    if (this.keys !== undefined) view.print(dim(keyHelp, process.stderr));
  }

  private tellChange({ status, message }: Extract<TrainEvent, { type: 'control' }>): void {
    const { view, folder } = this.options;
    const remedy = status === 'paused' ? `: proximal control ${quote(shorten(folder))} resume` : '';
    view.print(`${message}${remedy}`);
  }

  private resumption(): string {
    const { command, folder } = this.options;
    return `proximal ${command} --resume ${quote(shorten(folder))}`;
  }
}

/** Tells programs: each event is a line of JSON, and so is the result. Numbers of tokens, which would be
 *  most of it, are in the run's `tokens.jsonl`. */
export class JsonTeller<R extends object> implements RunTeller<R> {
  private readonly pick: (result: R) => object;

  /** @param pick what is told of a result */
  constructor(pick: (result: R) => object) {
    this.pick = pick;
  }

  handle(event: TrainEvent): void {
    const told = event.type === 'step' ? { ...event, tokens: undefined } : event;
    process.stdout.write(`${JSON.stringify(told)}\n`);
  }

  interrupt(): void {}

  close(): void {}

  end(result: R): void {
    process.stdout.write(`${JSON.stringify({ type: 'result', ...this.pick(result) })}\n`);
  }

  fail(): void {}
}
