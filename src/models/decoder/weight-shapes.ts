import type { ModuleShapes } from '../../base-setup/lora/lora-adapter.ts';
import { input, reshape, type Value } from '../../engine/graph/index.ts';
import type { Architecture } from './families/index.ts';
import type { HeadValues, LinearOptions } from './layer-context.ts';
import { layerParts } from './layer-graph.ts';
import { ModuleContext } from './module-context.ts';

/** The shape of every weight of a model, by its Hugging Face name, as the graphs declare them. */
export function weightShapes(architecture: Architecture): Map<string, readonly number[]> {
  const { family, config } = architecture;
  const { names } = family;
  const table = [config.vocab_size, config.hidden_size];
  const shapes = new Map<string, readonly number[]>([[names.embedding, table]]);
  if (names.positions !== undefined) {
    shapes.set(names.positions, [config.max_position_embeddings, config.hidden_size]);
  }
  const layer = layerParts(architecture).weights;
  for (let index = 0; index < config.num_hidden_layers; index++) {
    for (const [name, shape] of layer) {
      shapes.set(`${names.layer(index)}${name}`, shape as readonly number[]);
    }
  }
  const weight = (name: string, shape: readonly unknown[]) => {
    shapes.set(name, shape as readonly number[]);
    return input(name, shape as readonly number[]);
  };
  family.finalNorm({ config, weight }, input('x', ['M', config.hidden_size]));
  if (!config.tie_word_embeddings) shapes.set(names.head, table);
  return shapes;
}

/** [out, in] of every linear module of every layer, by full name. */
export function moduleShapes(architecture: Architecture): ModuleShapes {
  const { family, config } = architecture;
  const shapes = [...layerParts(architecture).modules];
  return new Map(
    Array.from({ length: config.num_hidden_layers }, (_, index) =>
      shapes.map(([name, shape]) => [`${family.names.layer(index)}${name}`, shape] as const),
    ).flat(),
  );
}

/** The modules, by their names within a layer, whose weights are stored as [in, out], as in GPT-2. */
export function transposedModules({ family, config }: Architecture): ReadonlySet<string> {
  const context = new LayoutContext(config);
  family.layer(context, input('x', ['M', config.hidden_size]));
  return context.transposed;
}

/** Builds a layer only to find the layout of its modules. */
class LayoutContext extends ModuleContext {
  readonly transposed = new Set<string>();

  override linear(x: Value, module: string, options: LinearOptions): Value {
    if (options.transposed) this.transposed.add(module);
    return super.linear(x, module, options);
  }

  rope(heads: Value): Value {
    return heads;
  }

  attend({ q }: HeadValues): Value {
    const [rows, heads, size] = q.shape as [string, number, number];
    return reshape(q, [rows, heads * size]);
  }
}
