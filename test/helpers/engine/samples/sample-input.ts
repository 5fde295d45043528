import type { Tensor } from '../../../../src/engine/runtime/index.ts';
import {
  dtypeOfKind,
  type ElementKind,
  resolve,
  type SampleInput,
  type SampleRun,
} from './sample.ts';

type Random = () => number;

interface Request {
  readonly random: Random;
  readonly shape: readonly number[];
  readonly count: number;
  readonly bound: number;
  /** The permutation of this run. */
  readonly permutation: () => number[];
}

const HIDDEN = -1e9;

/** Each avoids the kinks and poles of the ops that use it. */
const samplers: { readonly [K in ElementKind]: (request: Request) => Iterable<number> } = {
  normal: each(({ random }) => 4 * random() - 2),
  positive: each(({ random }) => 0.5 + 1.5 * random()),
  nonzero: each(({ random }) => (random() < 0.5 ? -1 : 1) * (0.5 + 1.5 * random())),
  grid: each(({ random }) => Math.floor(16 * random() - 8) / 4),
  offGrid: each(({ random }) => Math.floor(16 * random() - 8) / 4 + 1 / 8),
  distinct: ({ random, count }) => shuffle(random, count).map((k) => (k - count / 2) / 8),
  dropoutMask: each(({ random }) => (random() < 0.25 ? 0 : 4 / 3)),
  paddingBias: each(({ random, shape }, i) => {
    const key = i % (shape.at(-1) ?? 1);
    return key > 0 && random() < 0.5 ? HIDDEN : 0;
  }),
  causalBias: each(({ shape }, i) => {
    const [queries, keys] = shape.slice(-2) as [number, number];
    const query = Math.floor(i / keys) % queries;
    return i % keys > Math.max(0, query + keys - queries) ? HIDDEN : 0;
  }),
  condition: each(({ random }) => Math.floor(2 * random())),
  index: each(({ random, bound }) => Math.floor(bound * random())),
  permutation: ({ permutation }) => permutation(),
  inverse({ permutation }) {
    const places = permutation();
    return places.map((_, row) => places.indexOf(row));
  },
};

/** The elements of an input for one run. */
export function sampleInput(name: string, { kind, ...input }: SampleInput, run: SampleRun): Tensor {
  const shape = input.shape.map((dim) => resolve(dim, run.sizes));
  const count = shape.reduce((product, size) => product * size, 1);
  const elements = samplers[kind]({
    random: randomOf(`${run.seed} ${name}`),
    shape,
    count,
    bound: resolve(input.bound ?? Number.NaN, run.sizes),
    permutation: () => shuffle(randomOf(`${run.seed} permutation`), count),
  });
  const dtype = dtypeOfKind[kind];
  const arrays = { float32: Float32Array, int32: Int32Array, bool: Uint8Array };
  return { dtype, shape, data: arrays[dtype].from(elements) } as Tensor;
}

function each(sample: (request: Request, i: number) => number) {
  return (request: Request) => Array.from({ length: request.count }, (_, i) => sample(request, i));
}

/** A stream of numbers from 0 to 1 (mulberry32) that depends only on the key. */
export function randomOf(key: string): Random {
  let state = 0;
  for (const character of key) state = (Math.imul(state, 31) + character.charCodeAt(0)) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** 0 … count − 1 in random order. */
export function shuffle(random: Random, count: number): number[] {
  const items = [...Array(count).keys()];
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor((i + 1) * random());
    [items[i], items[j]] = [items[j] as number, items[i] as number];
  }
  return items;
}
