import { dirname } from 'node:path';
import type { TrainEvent } from '../loop/events.ts';
import type { RunResult } from '../run/run-training.ts';
import { Interruption } from './exit.ts';
import { shellQuote, shortPath } from './format.ts';
import { commandLine } from './program-command.ts';
import { ProgressView } from './progress.ts';
import { keyHelp, RunKeys } from './run-keys.ts';
import type { SummaryContext } from './summary.ts';
import { dim } from './terminal.ts';

/** Reports a run to a person or a program. */
interface RunReporter<R> {
  handle(event: TrainEvent): void;
  /** Called when the user presses Ctrl-C. */
  interrupt(): void;
  /** Called with the result of a run that did not fail. */
  end(result: R): void;
  /** Called before the error is printed. */
  fail(): void;
  /** Called once the run is over. */
  close(): void;
}

interface ReportedRun<R> {
  readonly signal: AbortSignal;
  run(onEvent: (event: TrainEvent) => void): Promise<R>;
}

/** Reports the progress of a run until it ends. */
export async function reportRun<R extends Pick<RunResult, 'reason'>>(
  reporter: RunReporter<R>,
  { signal, run }: ReportedRun<R>,
): Promise<void> {
  signal.addEventListener('abort', () => reporter.interrupt());
  let result: R;
  try {
    result = await run((event) => reporter.handle(event));
  } catch (error) {
    if (!signal.aborted) reporter.fail();
    throw error;
  } finally {
    reporter.close();
  }
  reporter.end(result);
  if (result.reason === 'interrupted') throw new Interruption();
}

interface TerminalReporterOptions<R> {
  /** `proximal <command>` */
  readonly command: string;
  readonly folder: string;
  /** Address of the dashboard in this process, if there is one. */
  readonly dashboard: string | undefined;
  readonly summarize: (result: R, context: SummaryContext) => string;
}

/** Reports to people: progress on standard error, the summary on standard output. */
export class TerminalReporter<R extends Pick<RunResult, 'reason' | 'message'>>
  implements RunReporter<R>
{
  private readonly options: TerminalReporterOptions<R>;
  private readonly view = new ProgressView();
  private readonly start = performance.now();
  private hasStarted = false;
  private keys: RunKeys | undefined;

  constructor(options: TerminalReporterOptions<R>) {
    this.options = options;
  }

  handle(event: TrainEvent): void {
    this.view.handle(event);
    if (event.type === 'control') this.showControl(event);
    if (event.type === 'run-start') this.begin();
  }

  interrupt(): void {
    this.view.print('Stopping after saving; press Ctrl-C again to stop immediately');
  }

  end(result: R): void {
    this.view.clear();
    const seconds = (performance.now() - this.start) / 1000;
    const output = process.stdout;
    const text =
      result.reason === 'interrupted'
        ? `${result.message}:\n  ${this.resumeCommand()}`
        : this.options.summarize(result, { seconds, output });
    output.write(`${text}\n`);
  }

  fail(): void {
    this.view.clear();
    if (!this.hasStarted) return;
    this.view.print(`The run failed. Fix the cause, then continue: ${this.resumeCommand()}`);
  }

  close(): void {
    this.keys?.close();
  }

  private begin(): void {
    this.hasStarted = true;
    this.keys = RunKeys.open(this.options.folder, (line) => this.view.print(line));
    if (this.keys !== undefined) this.view.print(dim(keyHelp, process.stderr));
  }

  private showControl({ status, message }: Extract<TrainEvent, { type: 'control' }>): void {
    const folder = shellQuote(shortPath(this.options.folder));
    const remedy =
      status === 'paused'
        ? `; to continue: ${commandLine(`control ${folder} resume`)}`
        : status === 'waiting'
          ? `: ${this.labelPage()}`
          : '';
    this.view.print(`${message}${remedy}`);
  }

  /** The address of the Label page, or how to open it. */
  private labelPage(): string {
    const { dashboard, folder } = this.options;
    if (dashboard !== undefined) return `${dashboard}#/label`;
    return `open it with ${commandLine(`dashboard ${shellQuote(shortPath(dirname(folder)))}`)}`;
  }

  private resumeCommand(): string {
    const { command, folder } = this.options;
    return commandLine(`${command} --resume ${shellQuote(shortPath(folder))}`);
  }
}

/** Reports to programs: each event and the result are lines of JSON. Per-token numbers would be most of
 *  the output; they are in the run's `tokens.jsonl`. */
export class JsonReporter<R extends object> implements RunReporter<R> {
  handle(event: TrainEvent): void {
    const shown = event.type === 'step' ? { ...event, tokens: undefined } : event;
    process.stdout.write(`${JSON.stringify(shown)}\n`);
  }

  end(result: R): void {
    process.stdout.write(`${JSON.stringify({ type: 'result', ...result })}\n`);
  }

  interrupt(): void {}

  fail(): void {}

  close(): void {}
}
