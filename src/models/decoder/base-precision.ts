import { mkdir } from 'node:fs/promises';
import { availableParallelism, cpus, homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import {
  type ByteFormat,
  byteProduct,
  input,
  linear,
  makeGraph,
} from '../../engine/graph/index.ts';
import { compile, type Feeds, tensor } from '../../engine/runtime/index.ts';
import { readTextIfExists, writeAtomically } from '../../fs/index.ts';
import type { BasePrecision } from './base-model.ts';
import { exactFormat } from './quantize-base.ts';

/** How fast this machine multiplies by weights in bytes. */
interface ByteSpeed {
  /** Speed of exact products with weights in bytes, relative to float32. */
  readonly ratio: number;
  /** Where the measurement is cached. */
  readonly file: string;
  /** Whether it was measured just now. */
  readonly isNew: boolean;
}

/** Products with bytes must be faster by this factor to be chosen: they are a little less exact. */
const MIN_GAIN = 1.1;

export interface ChosenPrecision {
  readonly precision: BasePrecision;
  /** Why, in one sentence. */
  readonly message: string;
}

/** Chooses what `auto` means on this machine: int8 if exact products with bytes are faster than float32.
 *  The measurement takes about a second and is cached. */
export async function chooseBasePrecision(options: MeasureOptions = {}): Promise<ChosenPrecision> {
  const { ratio, file, isNew } = await byteSpeed(options);
  const precision = ratio >= MIN_GAIN ? 'int8' : 'f32';
  const source = isNew ? `measured now, cached in ${file}` : `measured earlier, ${file}`;
  const speed = `exact products with 8-bit weights run at ${ratio.toFixed(2)} × the speed of float32`;
  return { precision, message: `Base precision ${precision}: ${speed} here (${source})` };
}

/** Says how an 8-bit base is held here, if the processor multiplies float32 numbers faster than bytes. */
export async function describeSlowBytes(
  format: Promise<Pick<ByteFormat, 'rows'>> = exactFormat(),
): Promise<string | undefined> {
  if ((await format).rows !== 'float32') return undefined;
  return 'Base precision int8: this processor has no dot products of bytes, so 8-bit weights are held as float32 numbers if these fit into a third of the memory; f32 is as fast and more exact';
}

export interface MeasureOptions {
  /** `XDG_CACHE_HOME`/proximal or ~/.cache/proximal by default. */
  readonly cacheFolder?: string | undefined;
  /** Measures the ratio; replaced by tests. */
  readonly measure?: (() => Promise<number>) | undefined;
}

const cacheSchema = z.record(z.string(), z.number().positive());

async function byteSpeed(options: MeasureOptions): Promise<ByteSpeed> {
  const { cacheFolder = defaultCacheFolder(), measure = measureByteSpeed } = options;
  const file = join(cacheFolder, 'byte-speed.json');
  const known = cacheSchema.safeParse(parseJson((await readTextIfExists(file)) ?? '')).data ?? {};
  const key = describeMachine();
  const cached = known[key];
  if (cached !== undefined) return { ratio: cached, file, isNew: false };
  const ratio = Number((await measure()).toFixed(3));
  await mkdir(dirname(file), { recursive: true });
  await writeAtomically(file, `${JSON.stringify({ ...known, [key]: ratio }, undefined, 2)}\n`);
  return { ratio, file, isNew: true };
}

function defaultCacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'proximal');
}

/** A damaged cache is measured again. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @example 'AMD EPYC, 2 cores, x64' */
function describeMachine(): string {
  return `${cpus()[0]?.model.trim() ?? 'unknown'}, ${availableParallelism()} cores, ${process.arch}`;
}

/** A layer's largest product at a small model's width. */
const SIZES = { rows: 256, inner: 1024, out: 2048 };
const SECONDS = 1;

/** Speed of exact products with bytes relative to float32, by the medians of alternating runs. */
export async function measureByteSpeed(): Promise<number> {
  const { rows, inner, out } = SIZES;
  const x = input('x', ['M', inner]);
  const weight = input('weight', [inner, out], 'int8');
  const scales = input('scales', [out]);
  const graphs = {
    float: makeGraph({ y: linear(x, input('weight', [out, inner])) }),
    bytes: makeGraph({ y: byteProduct(x, { weight, scales }, await exactFormat()) }),
  };
  const values = Float32Array.from({ length: rows * inner }, (_, i) => Math.sin(i));
  const shared = { x: tensor(values, [rows, inner]) };
  const floats = Float32Array.from({ length: out * inner }, (_, i) => Math.cos(i) / 50);
  const bytes = Int8Array.from({ length: inner * out }, (_, i) => (i * 37) % 255);
  const scale = new Float32Array(out).fill(1e-3);
  const feeds: Record<keyof typeof graphs, Feeds> = {
    float: { ...shared, weight: tensor(floats, [out, inner]) },
    bytes: { ...shared, weight: tensor(bytes, [inner, out]), scales: tensor(scale, [out]) },
  };
  const [float, byte] = await Promise.all([compile(graphs.float), compile(graphs.bytes)]);
  const times: { float: number[]; bytes: number[] } = { float: [], bytes: [] };
  const end = performance.now() + 1000 * SECONDS;
  for (let round = 0; round < 5 || performance.now() < end; round++) {
    times.float.push(await milliseconds(() => float.run(feeds.float)));
    times.bytes.push(await milliseconds(() => byte.run(feeds.bytes)));
  }
  await Promise.all([float.dispose(), byte.dispose()]);
  return median(times.float) / median(times.bytes);
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
