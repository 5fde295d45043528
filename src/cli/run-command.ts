import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { z } from 'zod';
import { loadConfigValues } from '../config/load-config-file.ts';
import { ConfigError } from '../config/parse-config.ts';
import { type AnyRunConfig, type RunKind, resolvePaths } from '../config/run-config.ts';
import { stringifyWithoutSecrets } from '../http/index.ts';
import { resolveStart } from '../run/find-model.ts';
import { type ChangeableSettings, completeConfig, readConfigOf } from '../run/run-config-files.ts';
import { checkRunFolder } from '../run/run-place.ts';
import type { RunOptions, RunResult } from '../run/run-training.ts';
import { addDashboardFlags, type DashboardFlags } from './dashboard-flags.ts';
import { untilInterrupted } from './exit.ts';
import { loadWithProgress, printFound } from './load-model.ts';
import { outliveOutput } from './output-errors.ts';
import { formatPlan, type ResumedRun, type RunPlan } from './plan.ts';
import { JsonReporter, reportRun, TerminalReporter } from './run-reporter.ts';
import { addGroupedOptions, readSchemaOptions } from './schema-options.ts';
import { formatSummary, type SummaryDetails } from './summary.ts';

/** A command that trains: `train`, `sft` or `reward`. */
export interface RunCommand<O extends object, C extends AnyRunConfig, R extends RunResult> {
  readonly kind: RunKind<O, C>;
  /** What it does, for its help. */
  readonly about: string;
  readonly schema: z.ZodObject;
  /** The flags of its config by heading. */
  readonly groups: Readonly<Record<string, z.ZodRawShape>>;
  /** @param resumed the run to resume, if it is not a new one */
  plan(config: C, resumed?: ResumedRun): Promise<RunPlan>;
  run(config: O, options: RunOptions): Promise<R>;
  summarize(result: R, config: C): SummaryDetails;
}

/** The flag of commands that execute what the folder of a run names. */
export const trustFlag = {
  name: '--trust',
  description:
    'Run the reward files that the folder of a run names although you have not run them before; read them first',
} as const;

/** Flags of all run commands that are not config keys. */
interface RunFlags extends DashboardFlags {
  readonly config?: string;
  readonly resume?: string;
  readonly allowChangedInputs?: boolean;
  /** Only of commands with `trustFlag`. */
  readonly trust?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const commonHelp = `Settings come from --config and from flags; flags override the file.

Ctrl-C, SIGTERM and a closed terminal stop the run cleanly, so that --resume continues it exactly; a second Ctrl-C stops it immediately. A closed output, as by "| head", does not affect the run.
Exit codes: 0 done, 1 failed, 2 invalid flags or config, 130 interrupted.`;

/** Defines a command that trains: its flags, `--dry-run`, `--resume`, progress and summary. */
export function defineRunCommand<O extends object, C extends AnyRunConfig & O, R extends RunResult>(
  command: Command,
  definition: RunCommand<O, C, R>,
): void {
  command
    .description(`${definition.about}\n\n${commonHelp}`)
    .option('--config <file>', 'Config file: .yaml, .json, .ts or .js, with the flags as keys')
    .option(
      '--resume <folder>',
      'Resume the run in this folder with its own settings; --max-steps extends it',
    )
    .option(
      '--allow-changed-inputs',
      'Resume although data, rewards, the base or other files have changed since the run started, or rows of its logs are missing',
    )
    .option('--dry-run', 'Check what the run would check and show its plan, without training')
    .option('--json', 'Print each event as a line of JSON');
  addDashboardFlags(
    command,
    'Show this run and others next to it on a local web page until it ends; see proximal dashboard',
  );
  addGroupedOptions(command, definition.groups);
  command.action(async (flags: RunFlags) => {
    const values = readSchemaOptions(command, definition.schema) as Partial<O>;
    const { config, message } = await resolveStart(
      await readConfig(definition.kind, { flags, values }),
    );
    printFound({ message });
    // Whoever names the rewards again wants them to run.
    const trust = flags.trust === true || 'reward' in values;
    if (flags.dryRun) await printPlan(definition, { config, flags, trust });
    else await untilInterrupted((signal) => train(definition, { config, flags, trust, signal }));
  });
}

interface RunInput<C> {
  readonly config: C;
  readonly flags: RunFlags;
  /** Whether the reward files of a resumed run may be executed. */
  readonly trust: boolean;
}

async function printPlan<O extends object, C extends AnyRunConfig & O, R extends RunResult>(
  { kind, plan: planRun }: RunCommand<O, C, R>,
  { config, flags, trust }: RunInput<C>,
): Promise<void> {
  const { json } = flags;
  const resume = flags.resume !== undefined;
  // With absolute paths, as the run has them, so that errors are the same.
  const complete = completeConfig<O, C>(config, kind);
  const folder = complete.output;
  const checkpoint = await checkRunFolder(folder, { resume });
  const allowChanged = flags.allowChangedInputs ?? false;
  const resumed = resume ? { folder, checkpoint, allowChanged, trust } : undefined;
  const output = config.output && folder;
  const plan = await planRun({ ...complete, output }, resumed);
  const { prefix } = kind;
  const { stdout } = process;
  const text = json ? JSON.stringify(plan) : formatPlan(plan, { prefix, output: stdout });
  stdout.write(`${text}\n`);
}

async function train<O extends object, C extends AnyRunConfig & O, R extends RunResult>(
  { kind, run, summarize }: RunCommand<O, C, R>,
  input: RunInput<C> & { readonly signal: AbortSignal },
): Promise<void> {
  outliveOutput();
  const { flags, trust, signal } = input;
  const config = completeConfig<O, C>(input.config, kind);
  const folder = config.output;
  const createReporter = (dashboard: string | undefined) =>
    flags.json
      ? new JsonReporter<R>()
      : new TerminalReporter<R>({
          command: kind.command,
          folder,
          dashboard,
          summarize: (result, context) =>
            formatSummary(result, { ...summarize(result, config), ...context }),
        });
  const start = (dashboard?: string) =>
    reportRun(createReporter(dashboard), {
      signal,
      run: (onEvent) =>
        run(config, {
          resume: flags.resume !== undefined,
          allowChangedInputs: flags.allowChangedInputs,
          trust,
          signal,
          onEvent,
          loadModel: loadWithProgress,
        }),
    });
  if (flags.dashboard === undefined) return start();
  const { withDashboard } = await import('./dashboard.ts');
  await withDashboard({ folder, port: flags.dashboard, tokenFile: flags.tokenFile }, start);
}

interface ConfigInput<O> {
  readonly flags: Pick<RunFlags, 'config' | 'resume'>;
  /** The config keys that were passed as flags. */
  readonly values: Partial<O>;
}

/** The config of a command: flags over the values of a file, or the config of the run to resume. */
async function readConfig<O extends object, C extends AnyRunConfig>(
  kind: RunKind<O, C>,
  { flags, values }: ConfigInput<O>,
): Promise<C> {
  const { config: file, resume } = flags;
  if (resume !== undefined) return readResumedConfig(resume, { kind, file, values });
  const fileValues = file === undefined ? {} : await loadConfigValues<O>(file, kind.shape);
  const hasFlags = Object.keys(values).length > 0;
  const name = file === undefined ? 'the flags' : hasFlags ? `${file} with the flags` : file;
  return kind.resolve({ ...fileValues, ...values } as O, { name });
}

interface ResumeInput<O extends object, C extends AnyRunConfig> {
  readonly kind: RunKind<O, C>;
  readonly file: string | undefined;
  readonly values: Partial<O>;
}

/** The config of the run in a folder. Flags may only repeat it, except that maxSteps may extend it, queue
 *  may name other workers, device another device, and URLs may have other passwords. */
async function readResumedConfig<O extends object, C extends AnyRunConfig>(
  folder: string,
  { kind, file, values }: ResumeInput<O, C>,
): Promise<C> {
  if (file !== undefined) {
    throw new ConfigError(
      `Cannot resume ${folder} with ${file}: a run continues with the config it started with; leave out --config`,
    );
  }
  const { maxSteps, queue, device, ...repeated } = values as Partial<O> & ChangeableSettings;
  const config = await readConfigOf(folder, kind, { maxSteps, queue, device });
  const saved = resolvePaths({ ...config, output: resolve(folder) }, process.cwd());
  const resolved = resolvePaths(repeated, process.cwd());
  for (const [key, value] of Object.entries(resolved)) {
    const before = stringifyWithoutSecrets(saved[key as keyof C]);
    const now = stringifyWithoutSecrets(value);
    if (before === now) continue;
    throw new ConfigError(
      `Cannot resume ${folder}: ${key} must be ${before ?? 'unset'} as when the run started, got ${now}; leave out the flag or start a new run`,
    );
  }
  return { ...config, ...resolved };
}
