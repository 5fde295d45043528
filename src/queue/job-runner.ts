import { resolvePPOConfig } from '../config/ppo-config.ts';
import { checkExperience } from '../experience-buffer/experience.ts';
import { sharedPrecision } from '../generation/index.ts';
import { type LoadedModel, PolicyModel, RewardModel, ValueModel } from '../models/index.ts';
import { LocalJobs, PolicyLoss, ValueLoss } from '../training/index.ts';
import { decodeBlob, encodeBlob } from './blob.ts';
import type { BlobRef, BlobStore } from './blob-store.ts';
import { inputSchemas, type JobKind, type JobValues } from './job-values.ts';
import type { JobData, Setup } from './protocol.ts';
import { decodeRole, type RoleWeights } from './role-blob.ts';

/** Runs the jobs of one run over a loaded base, exactly as a trainer runs them in its own process. */
export class JobRunner {
  private readonly model: LoadedModel;
  private readonly setup: Setup;
  private readonly blobs: BlobStore;
  /** The weights that were read last, by role. */
  private readonly roles = new Map<string, { sha256: string; weights: RoleWeights }>();
  private policy: PolicyModel | undefined;

  constructor(model: LoadedModel, { setup, blobs }: { setup: Setup; blobs: BlobStore }) {
    this.model = model;
    this.setup = setup;
    this.blobs = blobs;
  }

  /** Runs a job and stores its output. */
  async run(data: JobData): Promise<BlobRef> {
    const bytes = await this.blobs.get(data.input);
    const input = inputSchemas[data.kind].parse(await decodeBlob(bytes));
    return this.blobs.put(encodeBlob(await this.compute(data, input as never)));
  }

  async dispose(): Promise<void> {
    await this.policy?.dispose();
  }

  private async compute<K extends JobKind>(
    data: JobData & { readonly kind: K },
    input: JobValues[K]['input'],
  ): Promise<unknown> {
    if (data.kind === 'rewardScores') {
      const { sequences } = input as JobValues['rewardScores']['input'];
      return (await this.rewardModel(data)).forward(sequences);
    }
    if (data.kind === 'gradients') {
      checkExperience((input as JobValues['gradients']['input']).experience);
    }
    const jobs = await this.jobs(data);
    const kind: Exclude<JobKind, 'rewardScores'> = data.kind;
    return jobs[kind](input as never);
  }

  /** The jobs of a step over the weights that a job names. */
  private async jobs({ policy, value }: JobData): Promise<LocalJobs> {
    const { base, tokenizer } = this.model;
    const config = resolvePPOConfig(this.setup.config);
    const { adapter } = await this.read('policy', policy);
    const reference = await this.read('reference', this.setup.reference);
    const options = { base, tokenizer, batchSize: config.rolloutBatchSize };
    if (this.policy?.adapter !== adapter) {
      await this.policy?.dispose();
      this.policy = new PolicyModel({ ...options, adapter, precision: config.rolloutPrecision });
    }
    const { adapter: valueAdapter, head, bias } = await this.read('value', value);
    return new LocalJobs({
      config,
      policy: this.policy!,
      reference: new PolicyModel({
        ...options,
        adapter: reference.adapter,
        precision: sharedPrecision(base),
      }),
      value: head && new ValueModel({ base, head, bias, adapter: valueAdapter }),
      policyLoss: new PolicyLoss(config),
      valueLoss: new ValueLoss(config),
    });
  }

  private async rewardModel({ reward }: JobData): Promise<RewardModel> {
    const { base, tokenizer } = this.model;
    const { head, ...weights } = await this.read(`reward ${reward?.sha256}`, reward);
    if (head === undefined) throw new TypeError('Cannot score: the reward model must have a head');
    return new RewardModel({ base, tokenizer, head, ...weights });
  }

  /** The weights of a role. New ones are copied into the arrays of the last ones, which sessions share. */
  private async read(role: string, ref: BlobRef | undefined): Promise<RoleWeights> {
    if (ref === undefined) return {};
    const known = this.roles.get(role);
    if (known?.sha256 === ref.sha256) return known.weights;
    const next = await decodeRole(await this.blobs.get(ref));
    const weights = known && hasSameShape(known.weights, next) ? known.weights : next;
    if (weights !== next) copyWeights(next, weights);
    this.roles.set(role, { sha256: ref.sha256, weights });
    return weights;
  }
}

function tensorsOf({ adapter, head, bias }: RoleWeights) {
  return [...(adapter?.weights ?? []), ['head', head] as const, ['bias', bias] as const];
}

function hasSameShape(a: RoleWeights, b: RoleWeights): boolean {
  const describe = (weights: RoleWeights) =>
    JSON.stringify([
      weights.adapter?.config,
      weights.normalization,
      tensorsOf(weights).map(([name, weight]) => [name, weight?.shape]),
    ]);
  return describe(a) === describe(b);
}

function copyWeights(from: RoleWeights, to: RoleWeights): void {
  const targets = tensorsOf(to);
  for (const [i, [, source]] of tensorsOf(from).entries()) {
    if (source !== undefined) targets[i]![1]!.data.set(source.data);
  }
}
