import { type LoraAdapter, readAdapter } from '../base-setup/index.ts';
import type { RunConfig } from '../config/run-config.ts';
import { sharedPrecision } from '../generation/index.ts';
import type { EvaluationReport, Performance } from '../loop/evaluation-report.ts';
import { type LoadedModel, PolicyModel } from '../models/index.ts';
import type { EpisodeContext } from '../ppo-trainer/episode-context.ts';
import type { EvaluationPrompt, Scorer } from '../ppo-trainer/evaluator.ts';
import { Evaluator } from '../ppo-trainer/evaluator.ts';
import { EnvironmentSource } from '../reward-kl/environment-source.ts';
import { RewardComputer } from '../reward-kl/index.ts';
import { findAdapter } from './find-model.ts';
import { loadRewards } from './run-rewards.ts';

/** Options of `evaluatePolicy`. */
export interface EvaluatePolicyOptions {
  readonly model: LoadedModel;
  readonly prompts: readonly EvaluationPrompt[];
  /** Receives a sentence about an adapter or reward model that may be for another base. */
  readonly warn?: ((message: string) => void) | undefined;
  /** The environment of episodes with several turns; prompts must have its tools. */
  readonly episodes?: EpisodeContext | undefined;
  /** The policy's adapter, or the run that trained it; without it only the reference is evaluated. */
  readonly adapter?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called as responses are generated and measured. */
  readonly onProgress?:
    | ((part: 'reference' | 'policy', done: number, total: number) => void)
    | undefined;
  /** URLs of modules that reward files can import by name without installing them, such as this package. */
  readonly modules?: Readonly<Record<string, string>> | undefined;
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
  const { rewards, dispose } = await loadRewards({ ...config, valueInit: 'zero' }, options);
  const environment = options.episodes?.environment;
  const own = environment !== undefined && environment.hasRewards !== false;
  const sources = [...rewards, ...(own ? [{ source: new EnvironmentSource(), weight: 1 }] : [])];
  const computer = new RewardComputer({ config, sources });
  try {
    return await compare(config, { ...options, computer });
  } finally {
    dispose();
  }
}

async function compare(
  config: RunConfig,
  options: EvaluatePolicyOptions & { readonly computer: RewardComputer },
): Promise<PolicyEvaluation> {
  const { model, prompts, adapter: folder, computer } = options;
  const scorer: Scorer = (samples, context) => computer.score(samples, context);
  const read = async (path: string | undefined) => {
    if (path === undefined) return undefined;
    const { adapter, warning } = await readAdapter(await findAdapter(path), model.base);
    if (warning !== undefined) options.warn?.(warning);
    return adapter;
  };
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
  options: MeasureOptions,
): Promise<Omit<EvaluationReport, 'convergence'>> {
  const { model, prompts, start, adapter, scorer, signal, onProgress } = options;
  const { rolloutBatchSize: batchSize, rolloutPrecision: precision } = config;
  const roles = { base: model.base, tokenizer: model.tokenizer, batchSize };
  const shared = sharedPrecision(model.base);
  const reference = new PolicyModel({ ...roles, precision: shared, adapter: start });
  const policy = new PolicyModel({ ...roles, precision, adapter });
  const part = adapter === start ? 'reference' : 'policy';
  try {
    const { episodes } = options;
    const evaluator = new Evaluator({ config, policy, reference, scorer, episodes });
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
