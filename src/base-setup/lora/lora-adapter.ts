import { type RandomStream, randomStream, type StreamKey } from '../../engine/random/index.ts';
import { type Tensor, tensor } from '../../engine/runtime/index.ts';
import { isTarget, type LoraConfig } from './lora-config.ts';

/** [out, in] of linear modules, by their full names. */
export type ModuleShapes = ReadonlyMap<string, readonly [number, number]>;

/** The trainable weights of one role: `<module>.lora_A.weight` [r, in] and `<module>.lora_B.weight` [out, r]. */
export class LoraAdapter {
  readonly config: LoraConfig;
  readonly weights: ReadonlyMap<string, Tensor<'float32'>>;

  constructor(config: LoraConfig, weights: ReadonlyMap<string, Tensor<'float32'>>) {
    this.config = config;
    this.weights = weights;
  }

  /** The modules that it changes, in the order of its weights. */
  modules(): string[] {
    const names = [...this.weights.keys()].map((name) => name.replace(/\.lora_[AB]\.weight$/, ''));
    return [...new Set(names)];
  }

  /** A fresh adapter as PEFT makes it: A uniform in ±1/√in, B zero, so that it changes nothing yet. */
  static create(config: LoraConfig, modules: ModuleShapes, seed: StreamKey = 0): LoraAdapter {
    const weights = new Map<string, Tensor<'float32'>>();
    for (const [module, [out, inner]] of modules) {
      if (!isTarget(module, config)) continue;
      const a = uniform(randomStream(seed, 'lora', module), {
        size: config.r * inner,
        bound: 1 / Math.sqrt(inner),
      });
      weights.set(`${module}.lora_A.weight`, tensor(a, [config.r, inner]));
      weights.set(
        `${module}.lora_B.weight`,
        tensor(new Float32Array(out * config.r), [out, config.r]),
      );
    }
    if (weights.size === 0) {
      throw new Error(
        `Cannot create an adapter: target_modules must name modules that end in ${lastParts(modules).join(', ')}, got ${JSON.stringify(config.target_modules)}`,
      );
    }
    return new LoraAdapter(config, weights);
  }
}

function uniform(
  stream: RandomStream,
  { size, bound }: { size: number; bound: number },
): Float32Array {
  return Float32Array.from({ length: size }, () => (2 * stream.next() - 1) * bound);
}

function lastParts(modules: ModuleShapes): string[] {
  const parts = [...modules.keys()].map((module) => module.slice(module.lastIndexOf('.') + 1));
  return [...new Set(parts)];
}
