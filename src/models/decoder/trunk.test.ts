import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadFolder } from '../../../test/helpers/model-fixtures.ts';
import { largestDifference, randomAdapter } from '../../../test/helpers/pass-checks.ts';
import type { LoraAdapter } from '../../base-setup/lora/lora-adapter.ts';
import { embeddedFolder } from '../../embedded/embedded-files.ts';
import { randomStream } from '../../engine/random/index.ts';
import { observeRuns, tensor } from '../../engine/runtime/index.ts';
import { distinctPrompts, packResponses, toResponses } from '../responses.ts';
import { BaseModel, type LayerRole } from './base-model.ts';
import { backward, forward } from './forward.ts';
import { PackedBatch } from './packed-batch.ts';
import { type Pass, passOfRows } from './pass.ts';
import { forwardFromTrunk, Trunk } from './trunk.ts';

// A model of five layers.
let whole: BaseModel;

beforeAll(async () => {
  whole = await loadFolder(embeddedFolder);
});

afterAll(() => whole.dispose());

const baseOf = (layersPerSession: number) =>
  new BaseModel(whole.architecture, whole.weights, { layersPerSession });

const sampleIds = (length: number, name: string) => {
  const random = randomStream(0, name);
  return Int32Array.from({ length }, () => random.integer(900));
};

/** Two samples of a prompt of 12 tokens and one of a prompt of 5. */
function makeResponses() {
  const [a, b] = [sampleIds(12, 'a'), sampleIds(5, 'b')];
  return toResponses([a, a, b], [sampleIds(4, 'c'), sampleIds(7, 'd'), sampleIds(6, 'e')]);
}

/** Gradients of a random weighting of the hidden states. */
async function gradientsOf(pass: Pass): Promise<Map<string, Float32Array>> {
  const random = randomStream(1, 'weights');
  const { shape, data } = pass.hidden;
  const weights = tensor(
    data.map(() => random.next() - 0.5),
    shape,
  );
  const gradients = new Map<string, Float32Array>();
  await backward(pass, weights, (part) => {
    for (const [name, gradient] of Object.entries(part)) gradients.set(name, gradient.slice());
  });
  return gradients;
}

async function expectSame(expected: Pass, actual: Pass, { names }: LoraWeights): Promise<void> {
  expect(largestDifference(expected.hidden.data, actual.hidden.data)).toBeLessThan(1e-5);
  const [all, some] = [await gradientsOf(expected), await gradientsOf(actual)];
  expect([...some.keys()].sort()).toEqual([...names].sort());
  for (const name of names) {
    expect(largestDifference(all.get(name)!, some.get(name)!), name).toBeLessThan(1e-4);
  }
}

interface LoraWeights {
  readonly names: readonly string[];
}

/** An adapter on some layers, and one on all layers that computes the same: it is zero elsewhere. */
function makeAdapters(base: BaseModel, layers: readonly number[]) {
  const some = randomAdapter(base, { layers_to_transform: layers });
  const zeros = randomAdapter(base);
  for (const [name, { data }] of zeros.weights)
    data.set(some.weights.get(name)?.data ?? data.map(() => 0));
  return { some, zeros, names: [...some.weights.keys()] };
}

async function countFlops(work: () => Promise<unknown>): Promise<number> {
  let flops = 0;
  const end = observeRuns((run) => {
    flops += run.flops;
  });
  await work();
  end();
  return flops;
}

describe.each([1, 2, 100])('an adapter on some layers, %i layers per session,', (perSession) => {
  it.each([[[3, 4]], [[1, 2]], [[0, 1, 2]], [[1, 3]]])(
    'has the states and gradients of one that is zero elsewhere: %j',
    async (layers) => {
      const base = baseOf(perSession);
      const { some, zeros, names } = makeAdapters(base, layers);
      const batch = packResponses(makeResponses());
      const run = (adapter: LoraAdapter) => forward({ base, adapter }, batch, { save: 'matmul' });
      await expectSame(await run(zeros), await run(some), { names });
      await base.dispose();
    },
  );

  it.each(['none', 'matmul'] as const)(
    'has the same states and gradients from a trunk and past passes, saving %s',
    async (save) => {
      const base = baseOf(perSession);
      const { some: adapter, names } = makeAdapters(base, [2, 3]);
      const role = { base, adapter };
      const responses = makeResponses();
      const batch = packResponses(responses);
      const trunk = Trunk.of(base, [role])!;
      const prompts = new PackedBatch(distinctPrompts(responses));
      const promptPass = await forward(role, prompts, { save, onKeysAndValues: () => {} });
      const past = await Promise.all(
        prompts.rows.map((rows) =>
          passOfRows(promptPass, { start: rows[0]!, end: rows.at(-1)! + 1 }),
        ),
      );
      const plain = () => forward(role, batch, { save });
      await expectSame(await plain(), await forwardFromTrunk(role, batch, { save, trunk }), {
        names,
      });
      const continued = await forwardFromTrunk(role, batch, { save, trunk, past });
      await expectSame(await plain(), continued, { names });
      await base.dispose();
    },
  );
});

it('drops the same inputs of an adapter on some layers for any number of layers per session', async () => {
  const passes = [1, 100].map(async (perSession) => {
    const base = baseOf(perSession);
    const adapter = randomAdapter(base, { layers_to_transform: [1, 2], lora_dropout: 0.5 });
    const dropout = randomStream(3, 'dropout');
    const batch = packResponses(makeResponses());
    const pass = await forward({ base, adapter }, batch, { save: 'matmul', dropout });
    const plain = await forward({ base, adapter }, batch);
    expect(largestDifference(plain.hidden.data, pass.hidden.data)).toBeGreaterThan(1e-3);
    return pass;
  });
  const [single, joint] = await Promise.all(passes);
  const names = [...(single!.role.adapter as LoraAdapter).weights.keys()];
  await expectSame(single!, joint!, { names });
});

describe('Trunk', () => {
  const roleOn = (...layers: number[]): LayerRole => ({
    base: whole,
    adapter: randomAdapter(whole, { layers_to_transform: layers }),
  });

  it('does not exist if every role adapts the first layer or has no adapter', () => {
    const all = { base: whole, adapter: randomAdapter(whole) };
    expect(Trunk.of(whole, [all, { base: whole }])).toBeUndefined();
    expect(Trunk.of(baseOf(1), [roleOn(3, 4)])).toBeUndefined();
  });

  it('runs each layer below its highest border once for several roles and batches', async () => {
    const [policy, value] = [roleOn(2, 3, 4), roleOn(4)];
    const reference = { base: whole };
    const trunk = Trunk.of(whole, [policy, value])!;
    const batch = packResponses(makeResponses());
    const plainFlops = await countFlops(() => forward(reference, batch));
    const hidden = new Map<LayerRole, Float32Array>();
    const flops: number[] = [];
    for (const role of [reference, policy, value, policy]) {
      flops.push(
        await countFlops(async () => {
          hidden.set(role, (await forwardFromTrunk(role, batch, { trunk })).hidden.data);
        }),
      );
    }
    expect(flops[0]).toBe(plainFlops);
    // Adapters on three and on one of five layers; an adapter adds a few products.
    for (const [k, share] of [
      [1, 3 / 5],
      [2, 1 / 5],
      [3, 3 / 5],
    ] as const) {
      expect(flops[k]! / plainFlops).toBeGreaterThanOrEqual(share);
      expect(flops[k]! / plainFlops).toBeLessThan(1.15 * share);
    }
    for (const [role, data] of hidden) {
      const plain = await forward(role, batch);
      expect(largestDifference(plain.hidden.data, data)).toBeLessThan(1e-5);
    }
  });

  it('runs only the sequences that it has not seen, in any layout of rows', async () => {
    const role = roleOn(3, 4);
    const trunk = Trunk.of(whole, [role])!;
    const [a, b, c] = [sampleIds(20, 'a'), sampleIds(9, 'b'), sampleIds(11, 'c')];
    await trunk.states(3, new PackedBatch([a, b]));
    const again = await countFlops(() => trunk.states(3, new PackedBatch([b, a])));
    expect(again).toBe(0);
    const batch = new PackedBatch([c, b, a]);
    const flops = await countFlops(() => trunk.states(3, batch));
    const alone = await countFlops(() =>
      forward({ base: whole }, new PackedBatch([c]), { end: 3 }),
    );
    expect(flops).toBe(alone);
    const { hidden } = await forward({ base: whole }, batch, { end: 3 });
    const states = await trunk.states(3, batch);
    expect(largestDifference(hidden.data, states.data)).toBeLessThan(1e-5);
  });
});
