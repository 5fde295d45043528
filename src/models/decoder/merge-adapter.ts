import type { LoraAdapter } from '../../base-setup/lora/lora-adapter.ts';
import { loraScaling } from '../../base-setup/lora/lora-config.ts';
import { add, type Graph, input, makeGraph, matmul } from '../../engine/graph/index.ts';
import type { Tensor } from '../../engine/runtime/index.ts';
import { BaseModel } from './base-model.ts';
import { transposedModules } from './weight-shapes.ts';

/**
 * A model with an adapter merged into its weights: W + scaling·B·A. The original is unchanged, and
 * both share the weights without an adapter.
 */
export async function mergeAdapter(base: BaseModel, adapter: LoraAdapter): Promise<BaseModel> {
  expectFloat32(base, 'merge the adapter');
  const weights = new Map(base.weights);
  for await (const [name, weight] of mergedWeights(base, adapter)) weights.set(name, weight);
  return new BaseModel(base.architecture, weights);
}

/** Every weight of a model with an adapter merged, one by one, so that only one merged weight exists at a time. */
export async function* mergedWeights(
  base: BaseModel,
  adapter: LoraAdapter | undefined,
): AsyncGenerator<readonly [string, Tensor<'float32'>]> {
  expectFloat32(base, 'merge the adapter');
  for (const module of adapter?.modules() ?? []) {
    if (base.weights.has(`${module}.weight`)) continue;
    throw new RangeError(
      `Cannot merge the adapter: the model must have a module "${module}", got none; the adapter is for another base`,
    );
  }
  const transposed = [...transposedModules(base.architecture)];
  for (const [name, weight] of base.weights) {
    const module = name.replace(/\.weight$/, '');
    const a = adapter?.weights.get(`${module}.lora_A.weight`);
    const b = adapter?.weights.get(`${module}.lora_B.weight`);
    if (adapter === undefined || a === undefined || b === undefined) {
      yield [name, weight];
      continue;
    }
    const options: MergeOptions = {
      scaling: loraScaling(adapter.config),
      transposed: transposed.some((place) => module.endsWith(`.${place}`)),
    };
    const key = `merge ${JSON.stringify(options)}`;
    const graph = await base.compile(key, () => mergeGraph(options));
    const { merged } = await graph.run({ weight, a, b });
    yield [name, merged as Tensor<'float32'>];
  }
}

/** Requires the original weights: a base in bytes has lost some of their digits. */
export function expectFloat32({ precision }: BaseModel, action: string): void {
  if (precision === 'f32') return;
  throw new TypeError(
    `Cannot ${action}: the base must have its original weights, got ${precision}; load it with base precision f32`,
  );
}

interface MergeOptions {
  readonly scaling: number;
  readonly transposed: boolean;
}

/** W [out, in] + scaling·B·A, or W [in, out] + scaling·Aᵀ·Bᵀ. */
function mergeGraph({ scaling, transposed }: MergeOptions): Graph {
  const a = input('a', ['R', 'I']);
  const b = input('b', ['O', 'R']);
  const delta = transposed
    ? matmul(a, b, { transA: true, transB: true, alpha: scaling })
    : matmul(b, a, { alpha: scaling });
  return makeGraph({ merged: add(input('weight', delta.shape), delta) });
}
