import { expectLengths } from '../columns/index.ts';

export interface TdErrorOptions {
  /** Sequence i has the steps from offsets[i] to offsets[i + 1]. */
  readonly offsets: Int32Array;
  readonly gamma: number;
}

/** Temporal difference errors: how much better a step went than the values said.
 *  δ_t = r_t + γV_{t+1} − V_t;  V after the last step = 0
 *  @example γ=½, r=[1, 2], V=[4, 2]  →  δ=[1 + 1 − 4, 2 − 2] = [−2, 0] */
export function tdErrors(
  rewards: Float32Array,
  values: Float32Array,
  { offsets, gamma }: TdErrorOptions,
): Float32Array {
  expectLengths({ rewards, values }, { action: 'compute TD errors', length: offsets.at(-1) ?? 0 });
  const errors = new Float32Array(rewards.length);
  for (let i = 0; i + 1 < offsets.length; i++) {
    let next = 0;
    for (let t = offsets[i + 1]! - 1; t >= offsets[i]!; t--) {
      errors[t] = rewards[t]! + gamma * next - values[t]!;
      next = values[t]!;
    }
  }
  return errors;
}
