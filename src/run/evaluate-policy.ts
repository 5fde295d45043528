import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type LoraAdapter, readAdapter } from '../base-setup/index.ts';
import type { RunConfig } from '../config/run-config.ts';
import type { EvaluationReport, Performance } from '../loop/evaluation-report.ts';
import { type LoadedModel, PolicyModel } from '../models/index.ts';
import type { EvaluationPrompt, Scorer } from '../ppo-trainer/evaluator.ts';
import { Evaluator } from '../ppo-trainer/evaluator.ts';
import { RewardComputer } from '../reward-kl/index.ts';
import { CheckpointStore } from './checkpoint-store.ts';
import { locateRunFiles } from './run-folder.ts';
import { loadRewards } from './run-rewards.ts';
import { readRunState } from './run-state.ts';

/** Options of `evaluatePolicy`. */
export interface EvaluatePolicyOptions {
  readonly model: LoadedModel;
  readonly prompts: readonly EvaluationPrompt[];
  /** Folder of the policy's adapter; without it only the reference is evaluated. */
  readonly adapter?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called as responses are generated and measured. */
  readonly onProgress?:
    | ((part: 'reference' | 'policy', done: number, total: number) => void)
    | undefined;
  /** Modules that reward files can import by name without installing them, such as this package. */
  readonly modules?: Readonly<Record<string, unknown>> | undefined;
}

/** Performance of reference and policy on the same prompts with the same random streams. */
export interface PolicyEvaluation {
  readonly prompts: number;
  readonly reference: Performance;
  /** Undefined without an adapter. */
  readonly policy: Performance | undefined;
  /** Greedy responses to the first prompts. */
  readonly samples: EvaluationReport['samples'];
}

/** Evaluates a policy's adapter and its reference on the same prompts. */
export async function evaluatePolicy(
  config: RunConfig,
  options: EvaluatePolicyOptions,
): Promise<PolicyEvaluation> {
  const { model, prompts, adapter: folder, modules } = options;
  const { rewards } = await loadRewards({ ...config, valueInit: 'zero' }, { model, modules });
  const computer = new RewardComputer({ config, sources: rewards ?? [] });
  const scorer: Scorer = (samples, context) => computer.score(samples, context);
  const read = async (path: string | undefined) =>
    path === undefined
      ? undefined
      : (await readAdapter(await findPolicy(path), model.base.modules())).adapter;
  const [start, adapter] = [await read(config.adapter), await read(folder)];
  const shared = { ...options, scorer, start };
  const reference = await measure(config, { ...shared, adapter: start });
  const policy = adapter && (await measure(config, { ...shared, adapter }));
  return {
    prompts: prompts.length,
    reference: reference.performance,
    policy: policy?.performance,
    samples: (policy ?? reference).samples,
  };
}

type MeasureOptions = Omit<EvaluatePolicyOptions, 'adapter'> & {
  readonly scorer: Scorer;
  /** The reference's adapter. */
  readonly start: LoraAdapter | undefined;
  readonly adapter: LoraAdapter | undefined;
};

async function measure(
  config: RunConfig,
  { model, prompts, start, adapter, scorer, signal, onProgress }: MeasureOptions,
): Promise<Omit<EvaluationReport, 'convergence'>> {
  const { rolloutBatchSize: batchSize, rolloutPrecision: precision } = config;
  const roles = { base: model.base, tokenizer: model.tokenizer, batchSize };
  const reference = new PolicyModel({ ...roles, precision: 'f32-feeds', adapter: start });
  const policy = new PolicyModel({ ...roles, precision, adapter });
  const part = adapter === start ? 'reference' : 'policy';
  try {
    const evaluator = new Evaluator({ config, policy, reference, scorer });
    return await evaluator.measure(prompts, {
      step: 0,
      signal,
      onProgress: ({ done, total }) => onProgress?.(part, done, total),
    });
  } finally {
    await policy.dispose();
    await reference.dispose();
  }
}

/** The folder of the policy's adapter: the folder itself, or the one inside a run, which is in the
 *  latest checkpoint until the run ends. */
export async function findPolicy(folder: string): Promise<string> {
  if ((await readRunState(folder)) === undefined) return folder;
  const model = join(folder, 'model');
  if (existsSync(join(model, 'adapter_config.json'))) return model;
  const latest = await new CheckpointStore(locateRunFiles(folder).checkpoints, {
    keep: 1,
  }).latest();
  if (latest !== undefined) return join(latest.folder, 'policy');
  throw new Error(
    `Cannot evaluate ${folder}: the run must have a checkpoint, got none yet; wait for one or resume the run`,
  );
}
