import { z } from 'zod';
import { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import { type Tensor, tensor } from '../engine/runtime/index.ts';
import type { ScoreNormalization } from '../models/reward-model.ts';
import { decodeBlob, encodeBlob } from './blob.ts';

const tensorSchema = z.strictObject({
  shape: z.array(z.int().min(1)).max(2),
  data: z.instanceof(Float32Array),
});

const loraSchema = z.looseObject({
  r: z.int().min(1),
  lora_alpha: z.number(),
  target_modules: z.unknown(),
  use_rslora: z.boolean().optional(),
  lora_dropout: z.number().optional(),
  layers_to_transform: z.unknown().optional(),
});

const roleSchema = z.strictObject({
  lora: loraSchema.optional(),
  weights: z.record(z.string(), tensorSchema),
  head: tensorSchema.optional(),
  bias: tensorSchema.optional(),
  normalization: z.strictObject({ mean: z.number(), std: z.number().positive() }).optional(),
});

/** The weights of a role over the base: what training changes, or a reward model. */
export interface RoleWeights {
  readonly adapter?: LoraAdapter | undefined;
  readonly head?: Tensor<'float32'> | undefined;
  readonly bias?: Tensor<'float32'> | undefined;
  readonly normalization?: ScoreNormalization | undefined;
}

export function encodeRole({ adapter, head, bias, normalization }: RoleWeights): Buffer {
  const weights = [...(adapter?.weights ?? [])].map(([name, weight]) => [name, plain(weight)]);
  return encodeBlob({
    ...(adapter && { lora: adapter.config }),
    weights: Object.fromEntries(weights),
    ...(head && { head: plain(head) }),
    ...(bias && { bias: plain(bias) }),
    ...(normalization && { normalization }),
  });
}

export async function decodeRole(bytes: Uint8Array): Promise<RoleWeights> {
  const { lora, weights, head, bias, normalization } = roleSchema.parse(await decodeBlob(bytes));
  const tensors = Object.entries(weights).map(
    ([name, weight]) => [name, toTensor(weight)] as const,
  );
  const adapter =
    lora && new LoraAdapter(lora as unknown as LoraAdapter['config'], new Map(tensors));
  return {
    ...{ adapter, normalization },
    head: head && toTensor(head),
    bias: bias && toTensor(bias),
  };
}

function plain({ data, shape }: Tensor<'float32'>) {
  return { data, shape: [...shape] };
}

function toTensor({ data, shape }: z.output<typeof tensorSchema>): Tensor<'float32'> {
  const elements = shape.reduce((product, dim) => product * dim, 1);
  if (elements === data.length) return tensor(data as Float32Array<ArrayBuffer>, shape);
  throw new RangeError(
    `Cannot read a role: [${shape}] must have ${elements} numbers, got ${data.length}`,
  );
}
