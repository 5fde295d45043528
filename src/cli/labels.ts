import { open, rm } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { ConfigError, parseConfig } from '../config/parse-config.ts';
import type { QueueSource } from '../dashboard/api.ts';
import { LabelStore } from '../dashboard/labels/label-store.ts';
import type { QueueProgress } from '../dashboard/labels/queue-state.ts';
import { explainSystemError } from '../fs/index.ts';
import { count } from '../run/run-data.ts';
import { untilInterrupted } from './exit.ts';
import { shellQuote, shortPath } from './format.ts';
import { formatComparisonResult } from './human-evaluation.ts';
import { commandLine, programCommand } from './program-command.ts';
import { addSchemaOptions, readSchemaOptions } from './schema-options.ts';
import { StatusLine } from './status-line.ts';
import { formatTable } from './table.ts';
import { dim } from './terminal.ts';

const text = z.string().min(1);
const positive = z.int().min(1);

/** The flags of `proximal labels create`. */
const createFlagsSchema = z.strictObject({
  name: text.optional().describe('Name that people see; after the source by default'),
  question: text
    .optional()
    .describe('What people are asked; a question that fits --kind by default'),
  kind: z
    .enum(['pair', 'rating', 'ranking'])
    .default('pair')
    .describe('What people are asked to do'),
  compare: text
    .optional()
    .describe("Folder of a run: blind comparison of its policy's responses with its reference's"),
  against: text.optional().describe('Folder of another run to compare with, with --compare'),
  run: text.optional().describe('Folder of a run whose samples are labelled'),
  fromStep: z.int().min(0).optional().describe('First step whose samples are used, with --run'),
  file: text
    .optional()
    .describe('File with rows of "prompt" and "responses", or "prompt", "chosen" and "rejected"'),
  model: text
    .optional()
    .describe('Run, adapter, model folder or hub id that generates responses to label'),
  prompts: text
    .optional()
    .describe(
      "File with prompts, with --model or --compare; the run's validation prompts by default",
    ),
  maxNewTokens: positive.optional().describe('Longest response, with --model; 50 by default'),
  responses: z
    .int()
    .min(2)
    .max(9)
    .optional()
    .describe("Responses per ranking; 4 by default, or all of a file's row"),
  limit: positive.default(100).describe('Most tasks in the queue, or most prompts to compare'),
  seed: z.int().default(0).describe('The same seed chooses the same tasks'),
});

type CreateFlags = Readonly<z.output<typeof createFlagsSchema>>;

/** Flags of every `labels` command. */
interface LabelsFlags {
  readonly labels: string;
  readonly json?: boolean;
}

/** `proximal labels`: queues of responses that people label on the dashboard. */
export function addLabels(labels: Command): void {
  labels
    .description(
      "List the queues of responses that people label on the dashboard, with their progress and agreement: the fraction of tasks, and Krippendorff's alpha.",
    )
    .option('--labels <folder>', 'Folder of the queues', 'labels')
    .option('--json', 'Print JSON')
    .configureHelp({ showGlobalOptions: true })
    .action(listQueues);
  addCreate(labels);
  addResults(labels);
  addExport(labels);
}

function addCreate(labels: Command): void {
  const command = labels
    .command('create')
    .summary('Create a queue')
    .description(
      'Create a queue from the policy of a run and its reference, from the samples of a run, from a file, or from new responses of a model.',
    );
  addSchemaOptions(command, createFlagsSchema);
  command.action(async () => {
    const values = readSchemaOptions(command, createFlagsSchema);
    const flags = parseConfig(createFlagsSchema, values, { name: 'the flags' });
    await createQueue(flags, command.optsWithGlobals<LabelsFlags>());
  });
}

function addResults(labels: Command): void {
  const command = labels
    .command('results')
    .summary('Show the result of a comparison')
    .description(
      'Show how often people prefer the policy in a queue of "proximal labels create --compare", and add the result to the evaluations of the run.',
    )
    .argument('<queue>', 'Id of the queue')
    .action(async (queue: string) => showResults(queue, command.optsWithGlobals<LabelsFlags>()));
}

function addExport(labels: Command): void {
  const command = labels
    .command('export')
    .summary('Write the answers of a queue for "proximal reward"')
    .description(
      'Write the answers of a queue as JSON Lines for "proximal reward", one row per answer. Pairs with two bad responses are left out.',
    )
    .argument('<queue>', 'Id of the queue')
    .requiredOption('--output <file>', 'File to write; it must not exist')
    .action(async (queue: string, { output }: { readonly output: string }) => {
      await exportQueue(queue, { ...command.optsWithGlobals<LabelsFlags>(), output });
    });
}

/** Prints the queues of a folder. */
async function listQueues({ labels, json }: LabelsFlags): Promise<void> {
  const queues = await new LabelStore({ folder: labels }).list();
  process.stdout.write(`${json ? JSON.stringify(queues) : formatQueues(queues, labels)}\n`);
}

/** One line per queue.
 *  @example
 *    id           name  kind  answered  agreement  alpha  by
 *    good-3f9a2c  Good  pair   3 of 10       67 %   0.44  Ada 3, Bob 3 */
export function formatQueues(queues: readonly QueueProgress[], folder: string): string {
  if (queues.length === 0) {
    return `No queues in ${folder}; create one with "proximal labels create"`;
  }
  const header = ['id', 'name', 'kind', 'answered', 'agreement', 'alpha', 'by'];
  const rows = queues.map(({ id, name, kind, total, answered, labellers, agreement, alpha }) => [
    id,
    name,
    kind,
    `${answered} of ${total}`,
    agreement === null ? '–' : `${Math.round(100 * agreement)} %`,
    alpha === null ? '–' : alpha.toFixed(2),
    labellers.map((labeller) => `${labeller.name} ${labeller.answers}`).join(', '),
  ]);
  return formatTable([header, ...rows], 'lllrrrl');
}

/** Creates a queue and prints its id. */
async function createQueue(flags: CreateFlags, { labels, json }: LabelsFlags): Promise<void> {
  const { kind, question, responses, limit, seed } = flags;
  const source = toSource(flags);
  const { name = nameSource(flags) } = flags;
  const paths = [flags.run, flags.compare, flags.against].filter((path) => path !== undefined);
  const store = new LabelStore({
    folder: labels,
    program: programCommand(),
    runs: async () => paths.map((id) => ({ id, name: basename(resolve(id)), folder: resolve(id) })),
  });
  const options = {
    ...{ name, kind, source, limit },
    ...(question !== undefined && { question }),
    ...(responses !== undefined && { responses }),
  };
  const line = new StatusLine(process.stderr);
  const unit = flags.compare === undefined ? 'prompts' : 'responses';
  const onProgress = (done: number, total: number) =>
    line.show(dim(`Generating: ${done} of ${total} ${unit} …`, process.stderr));
  const queue = await untilInterrupted((signal) =>
    store.create(options, { seed, signal, onProgress }),
  ).finally(() => line.clear());
  process.stdout.write(
    `${json ? JSON.stringify(queue) : formatCreated(queue, { flags, labels })}\n`,
  );
}

/** @example --compare runs/a --against runs/b  →  'a against b' */
function nameSource({ kind, compare, against, run, file, model }: CreateFlags): string {
  const short = (path: string) => basename(resolve(path));
  const name =
    compare === undefined
      ? `${kind}s of ${short(run ?? file ?? model!)}`
      : `${short(compare)} against ${against === undefined ? 'its reference' : short(against)}`;
  return name.slice(0, 80);
}

/** Describes the new queue, how to label it, and how to see the result. */
function formatCreated(
  { id, total, next }: QueueProgress,
  { flags, labels }: { readonly flags: CreateFlags; readonly labels: string },
): string {
  const run = flags.compare ?? flags.run;
  const runs = run === undefined ? [] : [shellQuote(shortPath(dirname(resolve(run))))];
  const folder = labels === 'labels' ? [] : ['--labels', shellQuote(labels)];
  const dashboard = commandLine(['dashboard', ...runs, ...folder].join(' '));
  return [
    `Created ${id} with ${count(total, 'task')}`,
    `  Label it on the Label page of: ${dashboard}`,
    ...(flags.compare === undefined ? [] : [`  Then see the result: ${next[0]!.command}`]),
  ].join('\n');
}

/** The single source of the responses, with the flags that belong to it. */
function toSource(flags: CreateFlags): QueueSource {
  const { compare, against, run, fromStep, file, model, prompts, maxNewTokens } = flags;
  const flagValues = Object.entries({ compare, run, file, model });
  const sources = flagValues.filter(([, value]) => value !== undefined);
  if (sources.length !== 1) {
    const got = sources.map(([key]) => `--${key}`).join(' and ') || 'none of them';
    throw new ConfigError(
      `Cannot create a queue: exactly one of --compare, --run, --file and --model is required, got ${got}`,
    );
  }
  if (against !== undefined && compare === undefined) {
    throw new ConfigError(
      `Cannot create a queue: --against requires --compare, got --${sources[0]![0]}; name the run to compare with --compare`,
    );
  }
  if (compare !== undefined) {
    const others = {
      ...(against !== undefined && { against }),
      ...(prompts !== undefined && { prompts }),
    };
    return { from: 'compare', run: compare, ...others };
  }
  if (run !== undefined)
    return { from: 'samples', run, ...(fromStep !== undefined && { fromStep }) };
  if (file !== undefined) return { from: 'file', file };
  if (prompts === undefined) {
    throw new ConfigError('Cannot create a queue: --model requires --prompts, got none');
  }
  const length = maxNewTokens === undefined ? {} : { maxNewTokens };
  return { from: 'generate', model: model!, prompts, ...length };
}

/** Prints the result of a comparison and adds it to the run. */
async function showResults(queue: string, { labels, json }: LabelsFlags): Promise<void> {
  const result = await new LabelStore({ folder: labels }).results(queue);
  if (result === undefined) {
    throw new Error(
      `Cannot show the results of ${queue}: people must have judged at least one prompt, got none; label it on the dashboard's Label page`,
    );
  }
  const output = process.stdout;
  output.write(`${json ? JSON.stringify(result) : formatComparisonResult(result, output)}\n`);
}

/** Writes a queue's answers to a new file and prints how many. */
async function exportQueue(
  queue: string,
  { labels, output, json }: LabelsFlags & { readonly output: string },
): Promise<void> {
  const answers = await new LabelStore({ folder: labels }).export(queue);
  await writeNewFile(output, answers);
  const rows = answers.split('\n').length - 1;
  const message = `Wrote ${count(rows, 'row')} to ${output}`;
  process.stdout.write(`${json ? JSON.stringify({ rows, output }) : message}\n`);
}

/** Writes a file that must not exist. A file that is incomplete, as on a full disk, is removed. */
async function writeNewFile(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx').catch((error: NodeJS.ErrnoException) => {
    const problems: Readonly<Record<string, string>> = {
      EEXIST: 'it must not exist, got a file; choose another name',
      ENOENT: 'its folder must exist, got no such folder; create it or choose another path',
    };
    const problem = problems[error.code ?? ''];
    throw problem === undefined ? error : new Error(`Cannot write ${path}: ${problem}`);
  });
  try {
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await rm(path);
    throw explainSystemError(error, { action: `write ${path}`, next: 'export again' });
  } finally {
    await file.close();
  }
}
