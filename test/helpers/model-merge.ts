import type { LoraAdapter } from '../../src/base-setup/lora/lora-adapter.ts';
import { type Tensor, tensor } from '../../src/engine/runtime/index.ts';
import { BaseModel } from '../../src/models/decoder/base-model.ts';

/** A new model with W + alpha/r · B·A instead of each adapted W. */
export function mergeByHand(base: BaseModel, adapter: LoraAdapter): BaseModel {
  const weights = new Map(base.weights);
  const scaling = adapter.config.lora_alpha / adapter.config.r;
  // Only GPT-2 stores weights as [in, out].
  const transposed = base.architecture.config.model_type === 'gpt2';
  for (const [name, a] of adapter.weights) {
    if (!name.endsWith('.lora_A.weight')) continue;
    const b = adapter.weights.get(name.replace('lora_A', 'lora_B')) as Tensor<'float32'>;
    const module = name.replace('lora_A.weight', 'weight');
    const { data, shape } = base.weight(module);
    const [rank = 0, inner = 0] = a.shape;
    const [out = 0] = b.shape;
    const merged = Float32Array.from(data, (w, place) => {
      const [i, o] = transposed
        ? [Math.floor(place / out), place % out]
        : [place % inner, Math.floor(place / inner)];
      let sum = 0;
      for (let r = 0; r < rank; r++)
        sum += (b.data[o * rank + r] ?? 0) * (a.data[r * inner + i] ?? 0);
      return w + scaling * sum;
    });
    weights.set(module, tensor(merged, shape));
  }
  return new BaseModel(base.architecture, weights);
}
