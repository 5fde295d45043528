import { expectArrays, type NamedArrays } from './gradients.ts';

/** Parameters that share a learning rate and a weight decay. */
export interface ParameterGroup {
  /** Updated in place, so feeds that wrap these arrays see each step. */
  readonly parameters: NamedArrays;
  readonly learningRate: number;
  /** 0 by default, as usual for heads and norms. */
  readonly weightDecay?: number;
}

/** Constants of AdamW that all parameter groups share. */
export interface AdamWOptions {
  /** Decay rates of the first and second moment; (0.9, 0.999) by default. */
  readonly betas?: readonly [number, number];
  /** 1e-8 by default; PPO uses 1e-5. */
  readonly eps?: number;
}

/** Learning rate of a single optimiser step. */
export interface StepOptions {
  /** Overrides the learning rate of every group in this step. */
  readonly learningRate?: number;
  /** Multiplies the learning rate of every group in this step; usually from a schedule. */
  readonly learningRateFactor?: number;
}

/** Moments under the names `exp_avg.<parameter>` and `exp_avg_sq.<parameter>`. */
export interface AdamWState {
  readonly step: number;
  readonly tensors: NamedArrays;
}

/** Adam with decoupled weight decay (arXiv:1711.05101), equal to torch.optim.AdamW. */
export class AdamW {
  private readonly groups: readonly ParameterGroup[];
  private readonly betas: readonly [number, number];
  private readonly eps: number;
  private readonly parameters: NamedArrays;
  private readonly moments: NamedArrays;
  private t = 0;

  constructor(groups: readonly ParameterGroup[], options: AdamWOptions = {}) {
    const { betas = [0.9, 0.999], eps = 1e-8 } = options;
    for (const beta of betas) {
      if (!(beta >= 0 && beta < 1)) {
        throw new RangeError(`Cannot create AdamW: betas must be in [0, 1), got ${beta}`);
      }
    }
    expectNonNegative(eps, 'create AdamW: eps');
    for (const { learningRate, weightDecay = 0 } of groups) {
      expectNonNegative(learningRate, 'create AdamW: learningRate');
      expectNonNegative(weightDecay, 'create AdamW: weightDecay');
    }
    this.groups = groups;
    this.betas = betas;
    this.eps = eps;
    this.parameters = mergeParameters(groups);
    this.moments = makeMoments(this.parameters);
  }

  /** Number of completed steps, the argument of a schedule. */
  get stepCount(): number {
    return this.t;
  }

  /** Updates every parameter by its gradient; a call that throws changes nothing. */
  step(gradients: NamedArrays, options: StepOptions = {}): void {
    const remedy = 'pass one gradient per parameter';
    const like = this.parameters;
    expectArrays(gradients, { action: 'step AdamW', noun: 'gradient', like, remedy });
    const { learningRate, learningRateFactor = 1 } = options;
    const rates = this.groups.map((group) => {
      const η = (learningRate ?? group.learningRate) * learningRateFactor;
      return expectNonNegative(η, 'step AdamW: the learning rate');
    });
    const [β1, β2] = this.betas;
    const t = ++this.t;
    this.groups.forEach(({ parameters, weightDecay: λ = 0 }, i) => {
      const scalars = { η: rates[i]!, λ, β1, β2, ε: this.eps, t };
      for (const [name, θ] of Object.entries(parameters)) {
        const m = this.moments[`exp_avg.${name}`]!;
        const v = this.moments[`exp_avg_sq.${name}`]!;
        update({ θ, g: gradients[name]!, m, v }, scalars);
      }
    });
  }

  /** A copy of the step count and the moments, to save with the parameters. */
  state(): AdamWState {
    const tensors = Object.entries(this.moments).map(([name, moment]) => [name, moment.slice()]);
    return { step: this.t, tensors: Object.fromEntries(tensors) };
  }

  /** Restores a saved state; the next steps equal those of an uninterrupted run bit for bit. */
  restore({ step, tensors }: AdamWState): void {
    if (!Number.isSafeInteger(step) || step < 0) {
      throw new RangeError(`Cannot restore AdamW: step must be a whole number ≥ 0, got ${step}`);
    }
    const remedy = 'restore a state that was saved with the same parameters';
    const like = this.moments;
    expectArrays(tensors, { action: 'restore AdamW', noun: 'moment', like, remedy });
    for (const [name, moment] of Object.entries(this.moments)) moment.set(tensors[name]!);
    this.t = step;
  }
}

interface UpdateArrays {
  readonly θ: Float32Array;
  readonly g: Float32Array;
  readonly m: Float32Array;
  readonly v: Float32Array;
}

type UpdateScalars = Readonly<Record<'η' | 'λ' | 'β1' | 'β2' | 'ε' | 't', number>>;

/** Step t of one parameter with learning rate η and weight decay λ.
 *  m ← m + (1−β1)(g − m);  v ← β2·v + (1−β2)g²
 *  m̂ = m/(1−β1^t);  v̂ = v/(1−β2^t)
 *  θ ← (1−ηλ)θ − η·m̂/(√v̂ + ε)
 *  @example t=1, θ=1, g=½, η=0.1, λ=0.1, β1=0.9, β2=0.999, ε=½
 *    →  m=0.05, v=0.00025, m̂=½, v̂=¼, θ = 0.99·1 − 0.1·½/(½ + ½) = 0.94 */
function update({ θ, g, m, v }: UpdateArrays, { η, λ, β1, β2, ε, t }: UpdateScalars): void {
  const rate = η / (1 - β1 ** t);
  const root = 1 / Math.sqrt(1 - β2 ** t);
  // torch rounds these to float32; exact values differ from it by 2e-6 after 100 steps.
  const keep = Math.fround(1 - η * λ);
  const new1 = Math.fround(1 - β1);
  const old2 = Math.fround(β2);
  const new2 = Math.fround(1 - β2);
  const { length } = θ;
  for (let i = 0; i < length; i++) {
    const gi = g[i]!;
    const mi = m[i]! + new1 * (gi - m[i]!);
    const vi = old2 * v[i]! + new2 * gi * gi;
    m[i] = mi;
    v[i] = vi;
    θ[i] = keep * θ[i]! - (rate * mi) / (root * Math.sqrt(vi) + ε);
  }
}

function mergeParameters(groups: readonly ParameterGroup[]): NamedArrays {
  const entries = groups.flatMap(({ parameters }) => Object.entries(parameters));
  const names = new Set<string>();
  for (const [name] of entries) {
    if (names.has(name)) {
      throw new RangeError(
        `Cannot create AdamW: parameter "${name}" must be in one group, got two`,
      );
    }
    names.add(name);
  }
  return Object.fromEntries(entries);
}

function makeMoments(parameters: NamedArrays): NamedArrays {
  const moments: Record<string, Float32Array> = {};
  for (const kind of ['exp_avg', 'exp_avg_sq']) {
    for (const [name, { length }] of Object.entries(parameters)) {
      moments[`${kind}.${name}`] = new Float32Array(length);
    }
  }
  return moments;
}

function expectNonNegative(value: number, what: string): number {
  if (!(value >= 0 && value < Infinity)) {
    throw new RangeError(`Cannot ${what} must be finite and at least 0, got ${value}`);
  }
  return value;
}
