import { singleFileName } from './open-weights.ts';
import { byteLength, type TensorSpec } from './write-plan.ts';

/** From the name of a file to the tensors in it. */
export type ShardPlan = ReadonlyMap<string, readonly TensorSpec[]>;

/** Fills shards in the order of the tensors, as huggingface_hub does.
 *  @example limit 10, sizes 6, 6, 2, 6, 2, 2  →  [6], [6, 2], [6, 2, 2] */
export function planShards(specs: readonly TensorSpec[], maxShardBytes: number): ShardPlan {
  if (!(maxShardBytes > 0)) {
    throw new RangeError(
      `Cannot write shards: maxShardBytes must be greater than 0, got ${maxShardBytes}`,
    );
  }
  const shards: TensorSpec[][] = [];
  let current: TensorSpec[] = [];
  let size = 0;
  for (const spec of specs) {
    const bytes = byteLength(spec);
    if (bytes > maxShardBytes) {
      shards.push([spec]);
      continue;
    }
    if (size + bytes > maxShardBytes) {
      shards.push(current);
      current = [];
      size = 0;
    }
    current.push(spec);
    size += bytes;
  }
  if (current.length > 0 || shards.length === 0) shards.push(current);
  if (shards.length === 1) return new Map([[singleFileName, shards[0]!]]);
  const digits = (n: number) => String(n).padStart(5, '0');
  return new Map(
    shards.map((shard, i) => [
      `model-${digits(i + 1)}-of-${digits(shards.length)}.safetensors`,
      shard,
    ]),
  );
}

/** The text of `model.safetensors.index.json`. */
export function planShardIndex(shards: ShardPlan): string {
  const specs = [...shards.values()].flat();
  const total_size = specs.reduce((sum, spec) => sum + byteLength(spec), 0);
  const weight_map = Object.fromEntries(
    [...shards].flatMap(([file, of]) => of.map(({ name }) => [name, file])),
  );
  return `${JSON.stringify({ metadata: { total_size }, weight_map }, undefined, 2)}\n`;
}
