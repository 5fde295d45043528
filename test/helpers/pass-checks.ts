import { LoraAdapter } from '../../src/base-setup/lora/lora-adapter.ts';
import type { LoraConfig } from '../../src/base-setup/lora/lora-config.ts';
import { randomStream } from '../../src/engine/random/index.ts';
import type { BaseModel } from '../../src/models/index.ts';

/** An adapter whose B is not zero. */
export function randomAdapter(base: BaseModel, changes: Partial<LoraConfig> = {}): LoraAdapter {
  const all = { r: 4, lora_alpha: 8, target_modules: 'all-linear', lora_dropout: 0 } as const;
  const config = { ...all, ...changes };
  const adapter = LoraAdapter.create(config, base.modules(), 0);
  const random = randomStream(2, 'adapter');
  for (const { data } of adapter.weights.values()) {
    for (let i = 0; i < data.length; i++) data[i] = (random.next() - 0.5) / 5;
  }
  return adapter;
}

/** The largest difference, relative to the largest expected number. */
export function largestDifference(expected: Float32Array, found: Float32Array): number {
  if (expected.length !== found.length) return Infinity;
  let [size, difference] = [1e-6, 0];
  for (const [i, x] of expected.entries()) {
    size = Math.max(size, Math.abs(x));
    difference = Math.max(difference, Math.abs(x - found[i]!));
  }
  return difference / size;
}
