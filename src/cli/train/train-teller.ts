import type { RunConfig } from '../../config/run-config.ts';
import type { TrainEvent } from '../../ppo-trainer/events.ts';
import type { TrainRunResult } from '../../run/train-run.ts';
import { quote, shorten } from './shorten.ts';
import { formatSummary } from './train-summary.ts';
import { TrainView } from './train-view.ts';

/** What tells of a run. */
interface Teller {
  handle(event: TrainEvent): void;
  /** The user wants the run to end. */
  interrupt(): void;
  end(result: TrainRunResult): void;
  /** Before the error is shown. */
  fail(): void;
}

/** Tells people: progress on standard error, the summary on standard output. */
export class TrainTeller implements Teller {
  private readonly config: RunConfig & { readonly output: string };
  private readonly view = new TrainView();
  private readonly start = performance.now();
  private hasBegun = false;

  constructor(config: RunConfig & { readonly output: string }) {
    this.config = config;
  }

  handle(event: TrainEvent): void {
    this.hasBegun ||= event.type === 'run-start';
    this.view.handle(event);
  }

  interrupt(): void {
    this.view.print('Ending in order; Ctrl-C again ends at once');
  }

  end(result: TrainRunResult): void {
    this.view.clear();
    const seconds = (performance.now() - this.start) / 1000;
    const output = process.stdout;
    output.write(`${formatSummary(result, { config: this.config, seconds, output })}\n`);
  }

  fail(): void {
    this.view.clear();
    if (!this.hasBegun) return;
    const folder = quote(shorten(this.config.output));
    this.view.print(`The run failed; once its cause is gone: proximal train --resume ${folder}`);
  }
}

/** Tells programs: each event is a line of JSON, and so is the result. */
export class JsonTeller implements Teller {
  handle(event: TrainEvent): void {
    process.stdout.write(`${JSON.stringify(event)}\n`);
  }

  interrupt(): void {}

  end({ folder, modelFolder, steps, reason, message }: TrainRunResult): void {
    const result = { type: 'result', folder, modelFolder, steps, reason, message };
    process.stdout.write(`${JSON.stringify(result)}\n`);
  }

  fail(): void {}
}
