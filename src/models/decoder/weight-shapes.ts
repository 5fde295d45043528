import { input } from '../../engine/graph/index.ts';
import type { Architecture } from './families/index.ts';
import { layerParts } from './layer-graph.ts';

/** The shape of every weight of a model, by its Hugging Face name: what the graphs ask for. */
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
