import type { GeneratedText } from '../generation/index.ts';
import type { PolicyModel, RewardModel, ValueModel } from '../models/index.ts';
import type { ScoreTexts } from '../reward-kl/reward-source.ts';
import type { TokenLogprobs } from '../token-attribution/token-attributor.ts';
import type {
  GradientJob,
  GradientResult,
  JobContext,
  RolloutJob,
  ScoreJob,
  StepJobs,
} from '../training/index.ts';
import type { JobKind, JobValues } from './job-values.ts';
import type { JobRequest, QueueClient } from './queue-client.ts';
import { encodeRole } from './role-blob.ts';

type Roles = JobRequest<JobKind>['roles'];

/**
 * Runs the jobs of a step on workers. They are the jobs that `LocalJobs` runs, and each starts from the
 * data it is sent: nothing is reused between jobs, so it does not matter which worker runs which.
 */
export class QueueJobs implements StepJobs {
  readonly isRemote = true;
  private readonly client: Pick<QueueClient, 'run'>;
  private readonly policy: PolicyModel;
  private readonly value: ValueModel | undefined;
  /** Encoded weights of the jobs that start together. */
  private readonly encoded = new Map<object, Buffer>();

  constructor(
    client: Pick<QueueClient, 'run'>,
    { policy, value }: { readonly policy: PolicyModel; readonly value?: ValueModel | undefined },
  ) {
    this.client = client;
    this.policy = policy;
    this.value = value;
  }

  /** Progress is reported when all texts of a shard are finished. */
  async rollOut(
    { prompts, generation }: RolloutJob,
    context: JobContext = {},
  ): Promise<GeneratedText[]> {
    const { firstPrompt = 0 } = generation;
    const request = {
      input: { prompts, generation },
      part: firstPrompt,
      roles: this.roles('policy'),
    };
    const texts = await this.run('rollOut', request, context);
    for (const _ of texts) context.onText?.();
    return texts;
  }

  policyLogprobs(job: ScoreJob, context: JobContext = {}): Promise<TokenLogprobs> {
    return this.run('policyLogprobs', scoreRequest(job, this.roles('policy')), context);
  }

  refLogprobs(job: ScoreJob, context: JobContext = {}): Promise<TokenLogprobs> {
    return this.run('refLogprobs', scoreRequest(job, this.roles('policy')), context);
  }

  values(
    job: ScoreJob & { readonly stateCounts: readonly number[] },
    context: JobContext = {},
  ): Promise<Float32Array> {
    const { input, ...request } = scoreRequest(job, this.roles('policy', 'value'));
    const { stateCounts } = job;
    return this.run('values', { ...request, input: { ...input, stateCounts } }, context);
  }

  gradients(job: GradientJob, context: JobContext = {}): Promise<GradientResult> {
    const { microBatch, experience, counts, klCoef } = job;
    const sequences = keysOf(experience.sequences) as GradientJob['experience']['sequences'];
    const input = { microBatch, experience: { ...experience, sequences }, counts, klCoef };
    const roles = this.roles('policy', 'value');
    return this.run('gradients', { input, part: microBatch, roles }, context);
  }

  scoreTexts(step: number): ScoreTexts {
    return (model: RewardModel, sequences, { part, signal }) => {
      const roles = { reward: this.encode(model) };
      return this.run('rewardScores', { input: { sequences }, part, roles }, { step, signal });
    };
  }

  private run<K extends JobKind>(
    kind: K,
    request: Pick<JobRequest<K>, 'input' | 'part' | 'roles'>,
    { step = 0, signal }: JobContext,
  ): Promise<JobValues[K]['output']> {
    return this.client.run({ kind, step, signal, ...request });
  }

  private roles(...names: readonly ('policy' | 'value')[]): Roles {
    const models = names.flatMap((name) => {
      const model = this[name];
      return model === undefined ? [] : [[name, this.encode(model)] as const];
    });
    return Object.fromEntries(models);
  }

  /** The weights of a model. Jobs of one stage start in the same turn of the event loop, and training
   *  changes the weights only when all of them are done. */
  private encode(model: PolicyModel | ValueModel | RewardModel): Buffer {
    const known = this.encoded.get(model);
    if (known !== undefined) return known;
    const bytes = encodeRole(model);
    this.encoded.set(model, bytes);
    queueMicrotask(() => this.encoded.delete(model));
    return bytes;
  }
}

function scoreRequest({ microBatch, responses }: ScoreJob, roles: Roles) {
  const { offsets, tokens } = responses;
  const sequences = keysOf(responses.sequences);
  return {
    input: { microBatch, responses: { sequences, offsets, tokens } },
    part: microBatch,
    roles,
  };
}

/** What identifies responses; their texts do not travel. */
function keysOf(sequences: ScoreJob['responses']['sequences']): ScoreJob['responses']['sequences'] {
  return sequences.map(({ promptIdx, sample, promptTokens, observations }) => ({
    promptIdx,
    sample,
    promptTokens,
    ...(observations && { observations }),
  }));
}
