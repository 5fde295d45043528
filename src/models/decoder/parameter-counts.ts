import { defaultLoraConfig, isTarget, type LoraConfig } from '../../base-setup/lora/lora-config.ts';
import type { Architecture } from './families/index.ts';
import { moduleShapes, weightShapes } from './weight-shapes.ts';

/** Parameters of a model and of the adapters that are usually trained over it. */
export interface ParameterCounts {
  readonly total: number;
  /** Of tokens, and of learned positions if there are any. */
  readonly embedding: number;
  /** Of the output head; 0 if it is tied to the embedding. */
  readonly head: number;
  readonly perLayer: number;
  readonly lora: Readonly<Record<LoraTargets, number>>;
}

export type LoraTargets = 'attention' | 'allLinear';

/** The default adapter, and the same on every linear module. */
export const loraConfigs: Readonly<Record<LoraTargets, LoraConfig>> = {
  attention: defaultLoraConfig,
  allLinear: { ...defaultLoraConfig, target_modules: 'all-linear' },
};

export function countParameters(architecture: Architecture): ParameterCounts {
  const { names } = architecture.family;
  const sizes = new Map(
    [...weightShapes(architecture)].map(([name, shape]) => [name, size(shape)]),
  );
  const sizeOf = (name: string | undefined) => sizes.get(name ?? '') ?? 0;
  return {
    total: sum(sizes.values()),
    embedding: sizeOf(names.embedding) + sizeOf(names.positions),
    head: sizeOf(names.head),
    perLayer: sum([...sizes].filter(([name]) => name.startsWith(names.layer(0))).map(([, n]) => n)),
    lora: {
      attention: countAdapter(architecture, loraConfigs.attention),
      allLinear: countAdapter(architecture, loraConfigs.allLinear),
    },
  };
}

/** r · (in + out) of each target, in every adapted layer. */
export function countAdapter(architecture: Architecture, lora: LoraConfig): number {
  const targets = [...moduleShapes(architecture)].filter(([name]) => isTarget(name, lora));
  return sum(targets.map(([, [out, inner]]) => lora.r * (out + inner)));
}

function size(shape: readonly number[]): number {
  return shape.reduce((product, dim) => product * dim, 1);
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, number) => total + number, 0);
}
