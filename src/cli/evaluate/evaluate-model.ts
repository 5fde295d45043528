import {
  type RunConfig,
  type RunConfigOptions,
  resolveRunConfig,
} from '../../config/run-config.ts';
import type { PromptRecord } from '../../data/index.ts';
import type { LoadedModel } from '../../models/index.ts';
import { evaluatePolicy, findPolicy, type PolicyEvaluation } from '../../run/evaluate-policy.ts';
import { loadRunPrompts } from '../../run/load-run-prompts.ts';
import { checkRewards, leaveOutPeople } from '../../run/reward-specs.ts';
import { readRunState } from '../../run/run-state.ts';
import { readResumedConfig } from '../../run/train-run.ts';
import { untilInterrupted } from '../interrupt.ts';
import { packageEntries } from '../package-entries.ts';
import { bold, dim, type Output } from '../terminal.ts';
import { loadWithProgress } from '../train/load-with-progress.ts';
import { formatPerformances, formatSamples } from '../train/performance-table.ts';
import type { EvaluateFlags } from './evaluate-flags.ts';

type Given = Partial<RunConfigOptions>;

/** Evaluates a policy and prints the table. */
export async function evaluateModel(
  { adapter: folder, json }: Omit<EvaluateFlags, 'model'>,
  given: Given,
): Promise<void> {
  const whole = await completeConfig(folder, given);
  const config = leaveOutPeople(whole);
  checkRewards(config);
  if (config.reward.length < whole.reward.length) {
    process.stderr.write(
      'Warning: The reward human is left out, as nobody is asked to score evaluations\n',
    );
  }
  const adapter = folder === undefined ? undefined : await findPolicy(folder);
  const model = await loadWithProgress(config);
  const prompts = await choosePrompts(config, { model, given });
  const line = new StatusLine(process.stderr);
  const evaluation = await untilInterrupted((signal) =>
    evaluatePolicy(config, {
      model,
      prompts,
      adapter,
      signal,
      onProgress: (part, done, total) => line.show(`Evaluating the ${part}: ${done} of ${total}`),
      modules: packageEntries,
    }),
  ).finally(() => line.clear());
  const text = json ? JSON.stringify(evaluation) : formatEvaluation(evaluation, process.stdout);
  process.stdout.write(`${text}\n`);
}

/** The flags, over the config of the run that is evaluated, if it is one. */
async function completeConfig(folder: string | undefined, given: Given): Promise<RunConfig> {
  const isRun = folder !== undefined && (await readRunState(folder)) !== undefined;
  const base = isRun ? await readResumedConfig(folder) : {};
  return resolveRunConfig({ ...base, ...given } as RunConfigOptions, { name: 'the flags' });
}

/** All prompts that were asked for, or those that a run validates on. */
async function choosePrompts(
  config: RunConfig,
  { model, given }: { model: LoadedModel; given: Given },
): Promise<readonly PromptRecord[]> {
  const { tokenizer, base } = model;
  const contextLength = base.architecture.config.max_position_embeddings;
  const options = { tokenizer, contextLength };
  if (given.prompts === undefined) return (await loadRunPrompts(config, options)).validation;
  const { validationFile: _file, validationSplit: _split, ...rest } = config;
  return (await loadRunPrompts({ ...rest, validationFraction: 0 }, options)).train;
}

function formatEvaluation(evaluation: PolicyEvaluation, output: Output): string {
  const { prompts, reference, policy, samples } = evaluation;
  const columns = policy === undefined ? { reference } : { reference, policy };
  const title = bold(`Performance on ${prompts} ${prompts === 1 ? 'prompt' : 'prompts'}`, output);
  return [
    `${title}\n${formatPerformances(columns)}`,
    ...(policy === undefined ? [] : formatSamples(samples, output)),
  ].join('\n\n');
}

/** A line on a terminal that changes. */
class StatusLine {
  private readonly output: Output;
  private isShown = false;

  constructor(output: Output) {
    this.output = output;
  }

  show(text: string): void {
    if (!this.output.isTTY) return;
    this.output.write(`\r\x1b[K${dim(text, this.output)}`);
    this.isShown = true;
  }

  clear(): void {
    if (this.isShown) this.output.write('\r\x1b[K');
    this.isShown = false;
  }
}
