import { AdvantageComputer, ValueAdder } from '../advantage/index.ts';
import type { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import type { TrainingConfig } from '../config/training-config.ts';
import { ExperienceBuffer } from '../experience-buffer/index.ts';
import { recomputesLogprobs, sharedPrecision } from '../generation/index.ts';
import type { LoadedModel, RewardModel, RewardModelClass, ValueModel } from '../models/index.ts';
import { PolicyModel } from '../models/policy-model.ts';
import { EnvironmentSource } from '../reward-kl/environment-source.ts';
import type { RewardComputation, Rewards } from '../reward-kl/index.ts';
import { RewardComputer } from '../reward-kl/reward-computer.ts';
import { RewardModelSource } from '../reward-kl/reward-model-source.ts';
import { toWeightedSources } from '../reward-kl/to-weighted-sources.ts';
import type { RolloutServer } from '../rollout-server/index.ts';
import { TokenAttributor } from '../token-attribution/index.ts';
import {
  cachedTokens,
  LocalJobs,
  ModelTrainer,
  PolicyLoss,
  type StepJobs,
  ValueLoss,
} from '../training/index.ts';
import { EpisodeContext, type EpisodeOptions } from './episode-context.ts';
import { Evaluator } from './evaluator.ts';
import {
  copyAdapter,
  createRewardModel,
  createValueModel,
  describeRandomHead,
  freshAdapter,
} from './roles.ts';

/** The parts of a PPO step. Each can be replaced, and a replaced part reaches every part that uses
 *  it: generation, attribution, training and evaluation. */
export interface PPOComponents {
  readonly config: PPOConfig;
  readonly model: LoadedModel;
  readonly policy: PolicyModel;
  /** The base, with the adapter that training starts from if there is one. */
  readonly reference: PolicyModel;
  /** Missing if the advantage estimator needs no values. */
  readonly value: ValueModel | undefined;
  readonly policyLoss: PolicyLoss;
  readonly valueLoss: ValueLoss;
  readonly attributor: Pick<TokenAttributor, 'attribute'>;
  readonly rewardComputer: RewardComputation;
  readonly valueAdder: Pick<ValueAdder, 'addValues'>;
  readonly advantageComputer: Pick<AdvantageComputer, 'computeAdvantages'>;
  readonly buffer: ExperienceBuffer;
  /** Most tokens of a step whose forward passes the update reuses by default. */
  readonly maxCachedTokens: number;
  /** Runs episodes of several turns, if there is an environment. */
  readonly episodes: EpisodeContext | undefined;
  /** Generates the responses of training steps, if the config names a server. */
  readonly rolloutServer: RolloutServer | undefined;
  /** Runs the heavy parts of a step. */
  readonly jobs: StepJobs;
  readonly modelTrainer: ModelTrainer;
  /** Creates the evaluator of a run, which remembers the run's evaluations. */
  readonly makeEvaluator: (training: TrainingConfig) => Evaluator;
}

/** How a server generates the responses of training steps. */
export interface RolloutServers {
  /** The server that the config names. */
  create(parts: Pick<PPOComponents, 'config' | 'policy' | 'model'>): RolloutServer;
  /** The same jobs, except that a server generates the responses. */
  withServerRollouts(jobs: StepJobs, server: RolloutServer): StepJobs;
}

/** Models, rewards and replacements from which the components of PPO are built. */
export interface ComponentOptions extends EpisodeOptions {
  /** What policy and reference start from; by default a fresh adapter and the plain base. */
  readonly initialAdapter?: LoraAdapter | undefined;
  /** A reward model, or a class to create one from over the trainer's own base. */
  readonly rewardModel?: RewardModel | RewardModelClass | undefined;
  /** Further reward sources: functions and sources, with names and weights. */
  readonly rewards?: Rewards | undefined;
  /** Replaces parts: receives the default ones and returns its own. */
  readonly replace?: ((components: PPOComponents) => Partial<PPOComponents>) | undefined;
  /** Connects to the server that the config's `rollouts` names; needed if it names one. */
  readonly rolloutServers?: RolloutServers | undefined;
  /** Receives warnings, such as about a missing reward. */
  readonly warn: (message: string) => void;
}

/** Creates all parts from the config, over one copy of the base. */
export function buildComponents(
  config: PPOConfig,
  model: LoadedModel,
  options: ComponentOptions,
): PPOComponents {
  const { base, tokenizer } = model;
  const roleOptions = { base, tokenizer, batchSize: config.rolloutBatchSize };
  const { initialAdapter } = options;
  const adapter = initialAdapter
    ? copyAdapter(initialAdapter)
    : freshAdapter(config, model, 'policy');
  const rewardModel = chooseRewardModel(config, model, options);
  const leaves: Leaves = {
    config,
    model,
    policy: new PolicyModel({ ...roleOptions, precision: config.rolloutPrecision, adapter }),
    reference: new PolicyModel({
      ...roleOptions,
      precision: sharedPrecision(model.base),
      adapter: initialAdapter,
    }),
    value: createValueModel(config, model, rewardModel),
    policyLoss: new PolicyLoss(config),
    valueLoss: new ValueLoss(config),
    rewardComputer: new RewardComputer({ config, sources: rewardSources(options, rewardModel) }),
    advantageComputer: new AdvantageComputer(config),
    buffer: ExperienceBuffer.forConfig(config),
    maxCachedTokens: cachedTokens(base, config),
    episodes: makeEpisodes(config, model, options),
  };
  const { rolloutServers } = options;
  const defaults = connect(leaves, {}, { rolloutServers });
  const replaced = options.replace?.(defaults) ?? {};
  if (Object.keys(replaced).length === 0) return defaults;
  return connect(leaves, replaced, { defaults, rolloutServers });
}

/** The parts that use no other part. */
type Leaves = Pick<
  PPOComponents,
  | 'config'
  | 'model'
  | 'policy'
  | 'reference'
  | 'value'
  | 'policyLoss'
  | 'valueLoss'
  | 'rewardComputer'
  | 'advantageComputer'
  | 'buffer'
  | 'maxCachedTokens'
  | 'episodes'
>;

interface ConnectOptions extends Pick<ComponentOptions, 'rolloutServers'> {
  /** The parts before any was replaced. */
  readonly defaults?: PPOComponents;
}

/** Connects the parts. Those that use a replaced part are created again with it. */
function connect(
  leaves: Leaves,
  replaced: Partial<PPOComponents>,
  { defaults, rolloutServers }: ConnectOptions,
): PPOComponents {
  const parts = { ...leaves, ...replaced };
  const { config, policy, reference, value, policyLoss, valueLoss, rewardComputer } = parts;
  const create = <K extends keyof PPOComponents>(
    name: K,
    uses: readonly (keyof PPOComponents)[],
    build: () => PPOComponents[K],
  ): PPOComponents[K] => {
    if (name in replaced) return replaced[name] as PPOComponents[K];
    return defaults && !uses.some((part) => part in replaced) ? defaults[name] : build();
  };
  const trained = ['policy', 'value', 'policyLoss', 'valueLoss'] as const;
  const rolloutServer = create('rolloutServer', ['config', 'policy'], () =>
    config.rollouts === undefined ? undefined : needServers(rolloutServers).create(parts),
  );
  const jobs = create('jobs', ['config', 'reference', 'rolloutServer', ...trained], () => {
    const local = new LocalJobs({ config, policy, reference, value, policyLoss, valueLoss });
    if (rolloutServer === undefined) return local;
    return needServers(rolloutServers).withServerRollouts(local, rolloutServer);
  });
  const { temperature, klEstimator } = config;
  const recomputeLogprobs = recomputesLogprobs(config);
  const attributorOptions = { reference, policy, recomputeLogprobs, temperature, klEstimator };
  return {
    ...parts,
    rolloutServer,
    jobs,
    attributor: create(
      'attributor',
      ['config', 'policy', 'reference'],
      () => new TokenAttributor(attributorOptions),
    ),
    valueAdder: create('valueAdder', ['value'], () => new ValueAdder(value)),
    modelTrainer: create(
      'modelTrainer',
      ['config', 'jobs', ...trained],
      () => new ModelTrainer({ config, policy, value, policyLoss, valueLoss, jobs }),
    ),
    makeEvaluator: create(
      'makeEvaluator',
      ['config', 'policy', 'reference', 'value', 'rewardComputer', 'episodes'],
      () => (training) =>
        new Evaluator({
          config: { ...config, ...training },
          policy,
          reference,
          value,
          episodes: parts.episodes,
          scorer: (samples, context) => rewardComputer.score(samples, context),
          shapeScores: (scored, samples) => rewardComputer.shapeScores(scored, samples),
        }),
    ),
  };
}

function needServers(rolloutServers: RolloutServers | undefined): RolloutServers {
  if (rolloutServers !== undefined) return rolloutServers;
  throw new TypeError(
    'Cannot roll out by a server: the option rolloutServers must be set, got nothing; pass rolloutServers of proximal/components, or leave out rollouts',
  );
}

/** Episodes need a policy that generates in this process. */
function makeEpisodes(
  { rollouts }: PPOConfig,
  { tokenizer }: LoadedModel,
  options: ComponentOptions,
): EpisodeContext | undefined {
  const { environment } = options;
  if (environment === undefined) return undefined;
  if (rollouts !== undefined) {
    throw new Error(
      `Cannot use an environment: responses must be generated in this process, got rollouts by ${rollouts}; remove rollouts`,
    );
  }
  return new EpisodeContext(tokenizer, { ...options, environment });
}

/** Without any reward source, an untrained reward model scores, as in the specification. A class is
 *  created with a random head. */
function chooseRewardModel(
  { seed, valueInit }: PPOConfig,
  model: LoadedModel,
  { rewardModel, rewards, environment, warn }: ComponentOptions,
): RewardModel | undefined {
  if (rewardModel === undefined && (rewards !== undefined || givesRewards(environment)))
    return undefined;
  if (rewardModel === undefined) {
    warn(
      'No reward is configured: scores come from an untrained reward model with a random head; pass rewards or rewardModel',
    );
  } else if (typeof rewardModel === 'function') {
    const startsValue = valueInit === 'reward';
    warn(describeRandomHead(rewardModel, { startsValue, remedy: 'pass an instance' }));
  }
  return createRewardModel(model, { rewardModel, seed });
}

function rewardSources(options: ComponentOptions, rewardModel: RewardModel | undefined) {
  const { environment, rewards } = options;
  const sources = [
    ...(rewards === undefined ? [] : toWeightedSources(rewards)),
    ...(givesRewards(environment) ? [{ source: new EnvironmentSource(), weight: 1 }] : []),
  ];
  if (rewardModel === undefined) return sources;
  const isNamed = sources.some(
    ({ source }) => source instanceof RewardModelSource && source.uses(rewardModel),
  );
  if (isNamed) return sources;
  return [...sources, { source: new RewardModelSource(rewardModel), weight: 1 }];
}

function givesRewards(environment: ComponentOptions['environment']): boolean {
  return environment !== undefined && environment.hasRewards !== false;
}
