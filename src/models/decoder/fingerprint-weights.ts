import type { BaseFingerprint } from '../../base-setup/lora/base-fingerprint.ts';
import { Sha256 } from '../../engine/hash/index.ts';
import type { Tensor } from '../../engine/runtime/index.ts';
import type { Architecture } from './families/index.ts';

/** A weight of at most this many bytes is hashed completely, a larger one in blocks. */
const MAX_HASHED_BYTES = 2 ** 20;
const BLOCK_BYTES = 4096;

/** Fields of config.json that do not change what the model computes for a text. */
const irrelevantFields: ReadonlySet<string> = new Set([
  'architectures',
  'max_position_embeddings',
  'embd_pdrop',
  'resid_pdrop',
]);

/** The fingerprint of a model: its config and a hash of its weights.
 *
 *  Up to 1 MiB of a weight is hashed: all of a small one, 256 evenly spaced blocks of a large one, from
 *  its first to its last bytes. Training changes nearly every number of a matrix, so other weights are
 *  recognised in any block, while models of many gigabytes are hashed in less than a second. A change of
 *  single numbers between the blocks of a large weight is not noticed. */
export function fingerprintModel(
  architecture: Architecture,
  weights: ReadonlyMap<string, Tensor<'float32'>>,
): BaseFingerprint {
  const hash = createHash();
  for (const weight of [...weights].sort(byName)) addWeight(hash, weight);
  return { config: describeConfig(architecture), weights: hash.hex() };
}

/** The same fingerprint from weights that are read one by one, in the order of their names. */
export async function fingerprintStream(
  architecture: Architecture,
  weights: AsyncIterable<NamedWeight>,
): Promise<BaseFingerprint> {
  const hash = createHash();
  for await (const weight of weights) addWeight(hash, weight);
  return { config: describeConfig(architecture), weights: hash.hex() };
}

/** A weight and its Hugging Face name. */
export type NamedWeight = readonly [name: string, weight: Tensor<'float32'>];

/** Orders entries by their names, as fingerprints read them. */
export function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function describeConfig({ family, config }: Architecture): BaseFingerprint['config'] {
  const fields = Object.entries(family.describe(config)).filter(
    ([key]) => !irrelevantFields.has(key),
  );
  return JSON.parse(JSON.stringify(Object.fromEntries(fields)));
}

type Hash = Pick<Sha256, 'update' | 'hex'>;

/** SHA-256: Node's own, which is many times faster, or ours in a browser. */
function createHash(): Hash {
  const { process } = globalThis as { readonly process?: NodeJS.Process };
  const native = process?.getBuiltinModule?.('node:crypto').createHash('sha256');
  if (native === undefined) return new Sha256();
  const hash: Hash = {
    update(part) {
      native.update(part);
      return hash as Sha256;
    },
    hex: () => native.digest('hex'),
  };
  return hash;
}

function addWeight(hash: Hash, [name, { shape, data }]: NamedWeight): void {
  hash.update(`${JSON.stringify([name, shape])}\n`);
  for (const block of blocksOf(data)) hash.update(block);
}

/** The bytes of a weight that are hashed. */
function* blocksOf({ buffer, byteOffset, byteLength }: Float32Array): Generator<Uint8Array> {
  if (byteLength <= MAX_HASHED_BYTES) {
    yield new Uint8Array(buffer, byteOffset, byteLength);
    return;
  }
  const count = MAX_HASHED_BYTES / BLOCK_BYTES;
  for (let block = 0; block < count; block++) {
    const start = Math.floor((block * (byteLength - BLOCK_BYTES)) / (count - 1));
    yield new Uint8Array(buffer, byteOffset + start, BLOCK_BYTES);
  }
}
