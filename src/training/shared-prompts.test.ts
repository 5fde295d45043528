import { describe, expect, it } from 'vitest';
import { fixtureFolder, fixtureNames, loadFolder } from '../../test/helpers/model-fixtures.ts';
import { largestDifference, randomAdapter } from '../../test/helpers/pass-checks.ts';
import type { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import { embeddedFolder } from '../embedded/embedded-files.ts';
import type { SaveList } from '../engine/graph/index.ts';
import { randomStream } from '../engine/random/index.ts';
import { type Tensor, tensor } from '../engine/runtime/index.ts';
import { takeRows } from '../models/decoder/take-rows.ts';
import { type BaseModel, PackedBatch } from '../models/index.ts';
import { LayerPasses } from './layer-passes.ts';
import { putRows } from './response-rows.ts';

/** Two prompts: three responses to the first, two to the second; one of another prompt between. */
function makeSequences(vocabulary: number, prompt: number): number[][] {
  const random = randomStream(0, 'shared prompts', prompt);
  const draw = (length: number) =>
    Array.from({ length }, () => Math.floor(random.next() * vocabulary));
  const [a, b] = [draw(prompt), draw(prompt + 3)];
  const all = [[...a, ...draw(5)], [...a, ...draw(2)], draw(4), [...b, ...draw(3)]];
  return [...all, [...a, ...draw(7)], [...b, ...draw(6)]];
}

/** Hidden states of every place, and gradients of a random weighting of them. */
async function runPasses(base: BaseModel, sequences: number[][], options: RunOptions) {
  const { share, save, adapter } = options;
  const batch = new PackedBatch(sequences, { share });
  const passes = new LayerPasses({ base, adapter, save });
  const tape = await passes.forward(batch);
  const rows = batch.rows.flatMap((places) => [...places]);
  const hidden = takeRows(tape.hidden, rows);
  const random = randomStream(1, 'weights');
  const weights = hidden.data.map(() => random.next() - 0.5);
  const dHidden = putRows(tensor(weights, hidden.shape), rows, batch.tokens.length);
  const gradients = new Map<string, Float32Array>();
  const dx = await passes.backward(tape, dHidden, (part) => {
    for (const [name, data] of Object.entries(part)) gradients.set(name, data.slice());
  });
  return { rows: batch.tokens.length, hidden, gradients, dx: sumOf(dx) };
}

interface RunOptions {
  readonly share: boolean;
  readonly save: SaveList;
  readonly adapter: LoraAdapter | undefined;
}

/** Sum over rows: each token's gradient counts, wherever it stands. */
function sumOf({ data, shape }: Tensor<'float32'>): Float32Array {
  const width = shape[1]!;
  const sum = new Float32Array(width);
  for (const [i, x] of data.entries()) sum[i % width]! += x;
  return sum;
}

async function expectEqual(base: BaseModel, sequences: number[][], save: SaveList) {
  const adapter = randomAdapter(base);
  const apart = await runPasses(base, sequences, { share: false, save, adapter });
  const shared = await runPasses(base, sequences, { share: true, save, adapter });
  expect(shared.rows).toBeLessThan(apart.rows);
  expect(largestDifference(apart.hidden.data, shared.hidden.data)).toBeLessThan(1e-5);
  expect(largestDifference(apart.dx, shared.dx)).toBeLessThan(1e-4);
  expect(shared.gradients.size).toBe(apart.gradients.size);
  for (const [name, gradient] of apart.gradients) {
    expect(largestDifference(gradient, shared.gradients.get(name)!), name).toBeLessThan(1e-4);
  }
}

describe('prompts that stand once', () => {
  it.each(fixtureNames)('give the same states and gradients: %s', async (family) => {
    const base = await loadFolder(fixtureFolder(family));
    const { vocab_size } = base.architecture.config;
    await expectEqual(base, makeSequences(vocab_size, 10), 'matmul');
    await base.dispose();
  });

  it.each(['none', 'all'] as const)('whatever is saved: %s', async (save) => {
    const base = await loadFolder(embeddedFolder);
    await expectEqual(base, makeSequences(base.architecture.config.vocab_size, 10), save);
    await base.dispose();
  });

  it('in several blocks of attention', async () => {
    const base = await loadFolder(embeddedFolder);
    const { config } = base.architecture;
    const sequences = makeSequences(config.vocab_size, 400);
    const { form } = new PackedBatch(sequences, { share: true }).plan(config);
    expect(form.blocks).toBeGreaterThan(1);
    expect(form.shared).toBe(true);
    await expectEqual(base, sequences, 'matmul');
    await base.dispose();
  });
});
