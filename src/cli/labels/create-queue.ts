import { basename, resolve } from 'node:path';
import { ConfigError } from '../../config/parse-config.ts';
import type { QueueSource } from '../../dashboard/api.ts';
import { LabelStore } from '../../dashboard/labels/label-store.ts';
import { untilInterrupted } from '../interrupt.ts';
import { type Output, showStatus } from '../terminal.ts';
import type { CreateFlags } from './create-flags.ts';
import type { LabelsFlags } from './labels-flags.ts';

/** Creates a queue and says its id. */
export async function createQueue(flags: CreateFlags, { labels, json }: LabelsFlags) {
  const { name, kind, responses, limit, seed, run = '' } = flags;
  const source = toSource(flags);
  const folder = resolve(run);
  const store = new LabelStore({
    folder: labels,
    runs: async () => [{ id: run, name: basename(folder), folder }],
  });
  const queue = { name, kind, source, limit, ...(responses !== undefined && { responses }) };
  const progress = new GenerationStatus(process.stderr);
  const made = await untilInterrupted((signal) =>
    store.create(queue, { seed, signal, onProgress: (...counts) => progress.show(...counts) }),
  ).finally(() => progress.hide());
  const told = `Created ${made.id} with ${made.total} ${made.total === 1 ? 'task' : 'tasks'}`;
  process.stdout.write(`${json ? JSON.stringify(made) : told}\n`);
}

/** Where the responses come from: one place, with the flags that belong to it. */
function toSource(flags: CreateFlags): QueueSource {
  const { run, fromStep, file, model, prompts, maxNewTokens } = flags;
  const given = Object.entries({ run, file, model }).filter(([, value]) => value !== undefined);
  const [only] = given;
  if (only === undefined || given.length > 1) {
    const got = given.map(([key]) => `--${key}`).join(' and ') || 'none of them';
    throw new ConfigError(
      `Cannot create a queue: one of --run, --file and --model must be given, got ${got}`,
    );
  }
  if (run !== undefined)
    return { from: 'samples', run, ...(fromStep !== undefined && { fromStep }) };
  if (file !== undefined) return { from: 'file', file };
  if (prompts === undefined) {
    throw new ConfigError('Cannot create a queue: --prompts must be given with --model, got none');
  }
  const length = maxNewTokens === undefined ? {} : { maxNewTokens };
  return { from: 'generate', model: model!, prompts, ...length };
}

/** Says on a terminal how many prompts have their responses. */
class GenerationStatus {
  private readonly output: Output;
  private take: () => void = () => {};

  constructor(output: Output) {
    this.output = output;
  }

  show(done: number, total: number): void {
    this.hide();
    this.take = showStatus(`Generating: ${done} of ${total} prompts`, this.output);
  }

  hide(): void {
    this.take();
    this.take = () => {};
  }
}
