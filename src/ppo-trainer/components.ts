import { AdvantageComputer, ValueAdder } from '../advantage/index.ts';
import type { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import type { TrainingConfig } from '../config/training-config.ts';
import { ExperienceBuffer } from '../experience-buffer/index.ts';
import {
  type LoadedModel,
  PolicyModel,
  type RewardModel,
  type ValueModel,
} from '../models/index.ts';
import {
  type RewardComputation,
  RewardComputer,
  RewardModelSource,
  type Rewards,
  toWeightedSources,
} from '../reward-kl/index.ts';
import { TokenAttributor } from '../token-attribution/index.ts';
import { ModelTrainer } from '../training/index.ts';
import { Evaluator } from './evaluator.ts';
import {
  copyAdapter,
  freshAdapter,
  makeRewardModel,
  makeValue,
  type RewardModelClass,
} from './make-roles.ts';

/** All that a PPO step is made of. Every one can be replaced. */
export interface Components {
  readonly config: PPOConfig;
  readonly model: LoadedModel;
  readonly policy: PolicyModel;
  /** The base, with the adapter that the policy starts as if there is one. */
  readonly reference: PolicyModel;
  /** Absent where the advantage estimator needs no values. */
  readonly value: ValueModel | undefined;
  readonly attributor: Pick<TokenAttributor, 'attribute'>;
  readonly rewardComputer: RewardComputation;
  readonly valueAdder: Pick<ValueAdder, 'addValues'>;
  readonly advantageComputer: Pick<AdvantageComputer, 'computeAdvantages'>;
  readonly buffer: ExperienceBuffer;
  readonly modelTrainer: ModelTrainer;
  /** Made anew for each run: it remembers the run's evaluations. */
  readonly makeEvaluator: (training: TrainingConfig) => Evaluator;
}

export interface ComponentOptions {
  /** What policy and reference start as; a fresh adapter and the base alone if not given. */
  readonly initialAdapter?: LoraAdapter | undefined;
  /** A reward model, or a class that the trainer makes one of over its own base. */
  readonly rewardModel?: RewardModel | RewardModelClass | undefined;
  /** Where rewards come from besides: functions, sources, with names and weights. */
  readonly rewards?: Rewards | undefined;
  /** Takes the place of components: gets those that were made and returns its own. */
  readonly replace?: ((components: Components) => Partial<Components>) | undefined;
  readonly warn: (message: string) => void;
}

/** Makes every component from the config, over one copy of the base. */
export function makeComponents(
  config: PPOConfig,
  model: LoadedModel,
  options: ComponentOptions,
): Components {
  const { base, tokenizer } = model;
  const roles = { base, tokenizer, batchSize: config.rolloutBatchSize };
  const precision = config.rolloutPrecision;
  const { initialAdapter: initial } = options;
  const adapter = initial ? copyAdapter(initial) : freshAdapter(config, model, 'policy');
  const policy = new PolicyModel({ ...roles, precision, adapter });
  const reference = new PolicyModel({ ...roles, precision: 'f32-feeds', adapter: initial });
  const rewardModel = chooseRewardModel(config, model, options);
  const value = makeValue(config, model, rewardModel);
  const { temperature, klEstimator } = config;
  const sources = rewardSources(options, rewardModel);
  const rewardComputer = new RewardComputer({ config, sources });
  const modelTrainer = new ModelTrainer({ config, policy, value });
  const first = modelTrainer.firstPasses();
  const made: Components = {
    config,
    model,
    policy,
    reference,
    value,
    attributor: new TokenAttributor({
      reference,
      policy: first.logprobs,
      recomputeLogprobs: precision === 'int8',
      temperature,
      klEstimator,
    }),
    rewardComputer,
    valueAdder: first.values ?? new ValueAdder(value),
    advantageComputer: new AdvantageComputer(config),
    buffer: new ExperienceBuffer({ seed: config.seed }),
    modelTrainer,
    makeEvaluator: (training) =>
      new Evaluator({
        config: { ...config, ...training },
        policy,
        reference,
        value,
        scorer: (samples, context) => rewardComputer.score(samples, context),
        shapeScores: (scored, samples) => rewardComputer.shapeScores(scored, samples),
      }),
  };
  return { ...made, ...options.replace?.(made) };
}

/** Without any source of rewards there is a reward model that nobody trained, as in the documents. */
function chooseRewardModel(
  { seed }: PPOConfig,
  model: LoadedModel,
  { rewardModel: given, rewards, warn }: ComponentOptions,
): RewardModel | undefined {
  if (given === undefined && rewards !== undefined) return undefined;
  if (given === undefined) {
    warn(
      'No reward was given: scores come from a reward model with a random head, which nobody trained; pass rewards or rewardModel',
    );
  }
  return makeRewardModel(model, { given, seed });
}

function rewardSources(options: ComponentOptions, rewardModel: RewardModel | undefined) {
  const given = options.rewards === undefined ? [] : toWeightedSources(options.rewards);
  if (rewardModel === undefined) return given;
  return [...given, { source: new RewardModelSource(rewardModel), weight: 1 }];
}
