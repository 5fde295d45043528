import { randomStream, type StreamKey } from '../../engine/random/index.ts';
import { type Tensor, tensor } from '../../engine/runtime/index.ts';
import { isTarget, type LoraConfig } from './lora-config.ts';

/** [out, in] of linear modules, by their full names. */
export type ModuleShapes = ReadonlyMap<string, readonly [number, number]>;

/** The trainable weights of one role: `<module>.lora_A.weight` [r, in] and `<module>.lora_B.weight`
 *  [out, r]. */
export class LoraAdapter {
  readonly config: LoraConfig;
  readonly weights: ReadonlyMap<string, Tensor<'float32'>>;

  constructor(config: LoraConfig, weights: ReadonlyMap<string, Tensor<'float32'>>) {
    this.config = config;
    this.weights = weights;
  }

  /** The modules with an adapter, in the order of the weights. */
  modules(): string[] {
    const names = [...this.weights.keys()].map((name) => name.replace(/\.lora_[AB]\.weight$/, ''));
    return [...new Set(names)];
  }

  /** Creates an adapter as PEFT does: A is uniform in ±1/√in and B is zero, so it changes nothing
   *  until it is trained. */
  static create(config: LoraConfig, modules: ModuleShapes, seed: StreamKey = 0): LoraAdapter {
    const { r } = config;
    const weights = new Map<string, Tensor<'float32'>>();
    for (const [module, [out, inner]] of modules) {
      if (!isTarget(module, config)) continue;
      const random = randomStream(seed, 'lora', module);
      const bound = 1 / Math.sqrt(inner);
      const a = Float32Array.from({ length: r * inner }, () => (2 * random.next() - 1) * bound);
      weights.set(`${module}.lora_A.weight`, tensor(a, [r, inner]));
      weights.set(`${module}.lora_B.weight`, tensor(new Float32Array(out * r), [out, r]));
    }
    if (weights.size === 0) {
      throw new Error(
        `Cannot create an adapter: target_modules must name modules that end in ${listLastParts(modules)}, got ${JSON.stringify(config.target_modules)}`,
      );
    }
    return new LoraAdapter(config, weights);
  }
}

function listLastParts(modules: ModuleShapes): string {
  const parts = [...modules.keys()].map((module) => module.slice(module.lastIndexOf('.') + 1));
  return [...new Set(parts)].join(', ');
}
