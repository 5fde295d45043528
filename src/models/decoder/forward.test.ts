import { describe, expect, it } from 'vitest';
import {
  fixtureCases,
  fixtureFolder,
  fixtureNames,
  loadFolder,
  roundingOf,
} from '../../../test/helpers/model-fixtures.ts';
import { largestDifference, randomAdapter } from '../../../test/helpers/pass-checks.ts';
import type { LoraAdapter } from '../../base-setup/lora/lora-adapter.ts';
import { embeddedFolder } from '../../embedded/embedded-files.ts';
import type { SaveList } from '../../engine/graph/index.ts';
import { type RandomStream, randomStream } from '../../engine/random/index.ts';
import { observeRuns, type Tensor, tensor } from '../../engine/runtime/index.ts';
import { distinctPrompts, packResponses, toResponses } from '../responses.ts';
import { BaseModel } from './base-model.ts';
import { backward, type ForwardOptions, forward } from './forward.ts';
import { PackedBatch } from './packed-batch.ts';
import { type Pass, passOfRows, type RowPass } from './pass.ts';
import { scatterRows, takeRows } from './rows.ts';

/** Gradients of a random weighting of some rows of the hidden states. */
async function gradientsOf(pass: Pass, rows: readonly number[]) {
  const random = randomStream(1, 'weights');
  const hidden = takeRows(pass.hidden, rows);
  const weights = hidden.data.map(() => random.next() - 0.5);
  const dHidden = scatterRows(tensor(weights, hidden.shape), rows, pass.hidden.shape[0]!);
  const gradients = new Map<string, Float32Array>();
  const dx = await backward(pass, dHidden, (part) => {
    for (const [name, data] of Object.entries(part)) gradients.set(name, data.slice());
  });
  return { hidden, gradients, dx };
}

function expectSameGradients(
  expected: ReadonlyMap<string, Float32Array>,
  actual: ReadonlyMap<string, Float32Array>,
  within = 1e-4,
): void {
  expect(actual.size).toBe(expected.size);
  for (const [name, gradient] of expected) {
    expect(largestDifference(gradient, actual.get(name)!), name).toBeLessThan(within);
  }
}

const everyRow = (pass: Pass) => Array.from({ length: pass.hidden.shape[0]! }, (_, row) => row);

function countFlops(work: () => Promise<unknown>): Promise<number> {
  let flops = 0;
  const end = observeRuns((run) => {
    flops += run.flops;
  });
  return work().then(() => {
    end();
    return flops;
  });
}

describe('shared prefixes', () => {
  /** Two prompts: three responses to the first, two to the second, and an unrelated text in between. */
  function makeSequences(vocabulary: number, prompt: number): number[][] {
    const random = randomStream(0, 'shared prompts', prompt);
    const sampleIds = (length: number) =>
      Array.from({ length }, () => Math.floor(random.next() * vocabulary));
    const [a, b] = [sampleIds(prompt), sampleIds(prompt + 3)];
    const all = [
      [...a, ...sampleIds(5)],
      [...a, ...sampleIds(2)],
      sampleIds(4),
      [...b, ...sampleIds(3)],
    ];
    return [...all, [...a, ...sampleIds(7)], [...b, ...sampleIds(6)]];
  }

  interface RunOptions {
    readonly share: boolean;
    readonly save: SaveList;
    readonly adapter: LoraAdapter;
  }

  async function run(base: BaseModel, sequences: number[][], options: RunOptions) {
    const { share, save, adapter } = options;
    const batch = new PackedBatch(sequences, { share });
    const pass = await forward({ base, adapter }, batch, { save });
    const rows = batch.rows.flatMap((places) => [...places]);
    const { hidden, gradients, dx } = await gradientsOf(pass, rows);
    return { rows: batch.tokens.length, hidden, gradients, dx: sumRows(dx) };
  }

  function sumRows({ data, shape }: Tensor<'float32'>): Float32Array {
    const width = shape[1]!;
    const sum = new Float32Array(width);
    for (const [i, x] of data.entries()) sum[i % width]! += x;
    return sum;
  }

  async function expectEqual(base: BaseModel, sequences: number[][], save: SaveList) {
    const adapter = randomAdapter(base);
    const unshared = await run(base, sequences, { share: false, save, adapter });
    const shared = await run(base, sequences, { share: true, save, adapter });
    expect(shared.rows).toBeLessThan(unshared.rows);
    const within = roundingOf(base);
    expect(largestDifference(unshared.hidden.data, shared.hidden.data)).toBeLessThan(within);
    expect(largestDifference(unshared.dx, shared.dx)).toBeLessThan(10 * within);
    expectSameGradients(unshared.gradients, shared.gradients, 10 * within);
  }

  it.each(fixtureCases)('do not change states and gradients: $name in $precision', async (one) => {
    const base = await loadFolder(fixtureFolder(one.name), one.precision);
    await expectEqual(base, makeSequences(base.architecture.config.vocab_size, 10), 'matmul');
    await base.dispose();
  });

  it.each(['none', 'all'] as const)('do not change them with saveActivations %s', async (save) => {
    const base = await loadFolder(embeddedFolder);
    await expectEqual(base, makeSequences(base.architecture.config.vocab_size, 10), save);
    await base.dispose();
  });

  it('do not change them with several attention blocks', async () => {
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

describe('values that are recomputed instead of saved', () => {
  it.each(fixtureCases)('lead to the same gradients: $name in $precision', async (one) => {
    const base = await loadFolder(fixtureFolder(one.name), one.precision);
    const role = { base, adapter: randomAdapter(base) };
    const batch = new PackedBatch([
      [5, 6, 7, 8],
      [9, 3, 4, 2, 1, 6],
    ]);
    const run = async (save: SaveList) => {
      const pass = await forward(role, batch, { save });
      return gradientsOf(pass, everyRow(pass));
    };
    const all = await run('all');
    for (const save of ['none', 'matmul'] as const) {
      const some = await run(save);
      expectSameGradients(all.gradients, some.gradients, roundingOf(base));
      expect(largestDifference(all.dx.data, some.dx.data)).toBeLessThan(roundingOf(base));
    }
    await base.dispose();
  });
});

describe('past passes', () => {
  /** Prompts of 9, 3 and 14 tokens with 2, 1 and 3 responses of different lengths. */
  function makeResponses(vocabulary: number) {
    const random = randomStream(0, 'prompt passes');
    const sampleIds = (length: number) =>
      Int32Array.from({ length }, () => Math.floor(random.next() * vocabulary));
    const [a, b, c] = [sampleIds(9), sampleIds(3), sampleIds(14)] as const;
    return toResponses([a, a, b, c, c, c], [4, 1, 6, 2, 5, 3].map(sampleIds));
  }

  function setUp(base: BaseModel, save: SaveList) {
    const responses = makeResponses(base.architecture.config.vocab_size);
    const role = { base, adapter: randomAdapter(base) };
    const run = (options: ForwardOptions = {}) =>
      forward(role, packResponses(responses), { save, ...options });
    return { role, run, prompts: distinctPrompts(responses) };
  }

  /** Runs prompts in a different order, as a rollout does. */
  async function runPrompts(
    { role, prompts }: Pick<ReturnType<typeof setUp>, 'role' | 'prompts'>,
    save: SaveList,
  ): Promise<RowPass[]> {
    const layers: number[] = [];
    const batch = new PackedBatch(prompts.toReversed());
    const onKeysAndValues = (layer: number) => void layers.push(layer);
    const pass = await forward(role, batch, { save, onKeysAndValues });
    expect(layers).toEqual([...layers.keys()]);
    expect(layers).toHaveLength(role.base.architecture.config.num_hidden_layers);
    const parts = batch.rows.map((rows) =>
      passOfRows(pass, { start: rows[0]!, end: rows.at(-1)! + 1 }),
    );
    return Promise.all(parts.toReversed());
  }

  async function expectSame(base: BaseModel, save: SaveList): Promise<void> {
    const setup = setUp(base, save);
    const past = await runPrompts(setup, save);
    const [continued, whole] = [await setup.run({ past }), await setup.run()];
    const within = roundingOf(base);
    expect(largestDifference(whole.hidden.data, continued.hidden.data)).toBeLessThan(within);
    const rows = everyRow(whole);
    const [some, all] = [await gradientsOf(continued, rows), await gradientsOf(whole, rows)];
    expectSameGradients(all.gradients, some.gradients, 10 * within);
    expect(largestDifference(all.dx.data, some.dx.data)).toBeLessThan(10 * within);
  }

  it.each(fixtureCases)('lead to the states of a whole pass: $name in $precision', async (one) => {
    const base = await loadFolder(fixtureFolder(one.name), one.precision);
    await expectSame(base, 'matmul');
    await expectSame(base, 'none');
    await base.dispose();
  });

  it('are not run again', async () => {
    const base = await loadFolder(fixtureFolder(fixtureNames[0]!));
    const setup = setUp(base, 'matmul');
    const past = await runPrompts(setup, 'matmul');
    const continued = await countFlops(() => setup.run({ past }));
    const whole = await countFlops(() => setup.run());
    // 21 tokens of responses, 26 of prompts.
    expect(continued / whole).toBeLessThan(0.55);
    await base.dispose();
  });
});

describe('layersPerSession', () => {
  const sequences = [
    [5, 6, 7, 8, 9, 10, 11, 12, 13],
    [5, 6, 7, 8, 9, 10, 11, 12, 20, 21],
  ];

  /** Hidden states, keys and gradients with some layers per session. */
  async function run(whole: BaseModel, layersPerSession: number, dropout?: RandomStream) {
    const base = new BaseModel(whole.architecture, whole.weights, { layersPerSession });
    const adapter = randomAdapter(base);
    const config = { ...adapter.config, ...(dropout && { lora_dropout: 0.5 }) };
    const role = { base, adapter: Object.assign(Object.create(adapter), { config }) };
    const batch = new PackedBatch(sequences, { share: true });
    const keys: Float32Array[] = [];
    await forward(role, batch, { onKeysAndValues: (_, { k }) => void keys.push(k.data.slice()) });
    const pass = await forward(role, batch, { save: 'matmul', dropout });
    const { gradients, hidden } = await gradientsOf(pass, everyRow(pass));
    await base.dispose();
    return { keys, hidden: hidden.data, gradients };
  }

  it.each([2, 3, 100])('does not change results: %i layers per session', async (layers) => {
    const base = await loadFolder(embeddedFolder);
    expect(base.architecture.config.num_hidden_layers).toBeGreaterThan(3);
    const single = await run(base, 1);
    const joint = await run(base, layers);
    expect(joint.keys).toHaveLength(single.keys.length);
    for (const [i, keys] of single.keys.entries()) {
      expect(largestDifference(keys, joint.keys[i]!)).toBeLessThan(1e-5);
    }
    expect(largestDifference(single.hidden, joint.hidden)).toBeLessThan(1e-5);
    expectSameGradients(single.gradients, joint.gradients);
    await base.dispose();
  });

  it('samples the same dropout masks', async () => {
    const base = await loadFolder(embeddedFolder);
    const single = await run(base, 1, randomStream(1, 'dropout'));
    const joint = await run(base, 2, randomStream(1, 'dropout'));
    expect(largestDifference(single.hidden, joint.hidden)).toBeLessThan(1e-5);
    expectSameGradients(single.gradients, joint.gradients);
    await base.dispose();
  });
});
