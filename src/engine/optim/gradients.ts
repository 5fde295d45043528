/** The L2 norm of all gradients as one vector: ‖g‖ = √(Σ g_i²).
 *  It is finite if and only if every element is: squares of float32 cannot overflow a float64 sum.
 *  @example a=[3], b=[0, 4]  →  5 */
export function globalNorm(gradients: NamedArrays): number {
  let total = 0;
  for (const g of Object.values(gradients)) {
    let sum = 0;
    for (let i = 0; i < g.length; i++) sum += g[i]! * g[i]!;
    total += sum;
  }
  return Math.sqrt(total);
}

/** Scales the gradients in place to a norm of at most maxNorm, like torch's clip_grad_norm_; returns
 *  the norm before. Unlike torch it throws for NaN and infinite gradients, which no factor can fix; to
 *  skip such a step, check `globalNorm` first.
 *  g ← c·g with c = maxNorm/(‖g‖ + 1e-6), if c < 1; pass ‖g‖ as `norm` if it is already known.
 *  @example a=[3], b=[0, 4], maxNorm=1  →  5, and a=[0.6], b=[0, 0.8] to 1e-6 */
export function clipGradNorm(
  gradients: NamedArrays,
  maxNorm: number,
  { norm = globalNorm(gradients) }: { readonly norm?: number | undefined } = {},
): number {
  if (!(maxNorm > 0)) {
    throw new RangeError(
      `Cannot clip gradients: maxNorm must be above 0, got ${maxNorm}; use Infinity to not clip`,
    );
  }
  if (!Number.isFinite(norm)) throw describeNonFinite(gradients);
  const c = maxNorm / (norm + 1e-6);
  if (c < 1) scaleArrays(gradients, c);
  return norm;
}

/** Sums the gradients of micro-batches in buffers that are reused. */
export class GradientAccumulator {
  /** The sums since the last reset, always in the same arrays. */
  readonly gradients: NamedArrays;

  constructor(parameters: NamedArrays) {
    const zeros = Object.entries(parameters).map(([name, { length }]) => [
      name,
      new Float32Array(length),
    ]);
    this.gradients = Object.fromEntries(zeros);
  }

  /** Adds gradients of some or all parameters, such as those of one layer. */
  add(gradients: NamedArrays): void {
    expectArrays(gradients, {
      action: 'accumulate gradients',
      noun: 'gradient',
      like: this.gradients,
      partial: true,
      remedy: 'create the accumulator from the trained parameters',
    });
    for (const [name, g] of Object.entries(gradients)) {
      const sum = this.gradients[name]!;
      for (let i = 0; i < sum.length; i++) sum[i] = sum[i]! + g[i]!;
    }
  }

  /** Multiplies the sums, such as by 1 / (number of real tokens in the optimiser step). */
  scale(factor: number): void {
    scaleArrays(this.gradients, factor);
  }

  /** Sets every accumulated gradient to zero. */
  reset(): void {
    for (const sum of Object.values(this.gradients)) sum.fill(0);
  }
}

function scaleArrays(arrays: NamedArrays, factor: number): void {
  for (const array of Object.values(arrays)) {
    for (let i = 0; i < array.length; i++) array[i] = array[i]! * factor;
  }
}

function describeNonFinite(gradients: NamedArrays): RangeError {
  for (const [name, g] of Object.entries(gradients)) {
    const i = g.findIndex((value) => !Number.isFinite(value));
    if (i >= 0) {
      return new RangeError(
        `Cannot clip gradients: gradient "${name}" must be finite, got ${g[i]} at ${i}; ` +
          'compile the graph with checkNumerics to find its source, or skip the step',
      );
    }
  }
  throw new Error('Internal: the norm of finite gradients is not finite');
}

/** Host arrays by parameter name: the parameters themselves, their gradients or their moments. */
export type NamedArrays = Readonly<Record<string, Float32Array>>;

export interface ArraysExpectation {
  /** The action that fails if the arrays do not match, such as `step AdamW`. */
  readonly action: string;
  /** What an array is called in errors, such as `gradient`. */
  readonly noun: string;
  /** The expected names and lengths. */
  readonly like: NamedArrays;
  /** Allows names to be missing. */
  readonly partial?: boolean;
  readonly remedy: string;
}

/** Throws if names or lengths of arrays differ from the expected ones. */
export function expectArrays(arrays: NamedArrays, expectation: ArraysExpectation): void {
  const { action, noun, like, partial = false, remedy } = expectation;
  for (const [name, { length }] of Object.entries(arrays)) {
    if (!Object.hasOwn(like, name)) {
      throw new RangeError(
        `Cannot ${action}: ${noun} "${name}" must belong to a parameter, got no such parameter; ${remedy}`,
      );
    }
    const expected = (like[name] as Float32Array).length;
    if (length !== expected) {
      throw new RangeError(
        `Cannot ${action}: ${noun} "${name}" must have ${expected} elements, got ${length}; ${remedy}`,
      );
    }
  }
  if (partial) return;
  const missing = Object.keys(like).find((name) => !Object.hasOwn(arrays, name));
  if (missing !== undefined) {
    throw new RangeError(
      `Cannot ${action}: ${noun} "${missing}" must be present, got none; ${remedy}`,
    );
  }
}
