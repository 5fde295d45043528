import { describe, expect, it } from 'vitest';
import { fixtureFolder, fixtureNames, loadFolder } from '../../test/helpers/model-fixtures.ts';
import { largestDifference, randomAdapter } from '../../test/helpers/pass-checks.ts';
import type { SaveList } from '../engine/graph/index.ts';
import { randomStream } from '../engine/random/index.ts';
import { observeRuns, tensor } from '../engine/runtime/index.ts';
import { type BaseModel, PackedBatch } from '../models/index.ts';
import { LayerPasses, type Tape } from './layer-passes.ts';
import { distinctPrompts, packSequences } from './pack-sequences.ts';
import { PromptPasses } from './prompt-passes.ts';
import { responsesOf } from './responses.ts';

/** Prompts of 9, 3 and 14 tokens with 2, 1 and 3 responses of different lengths. */
function makeResponses(vocabulary: number) {
  const random = randomStream(0, 'prompt passes');
  const draw = (length: number) =>
    Int32Array.from({ length }, () => Math.floor(random.next() * vocabulary));
  const [a, b, c] = [draw(9), draw(3), draw(14)] as const;
  return responsesOf([a, a, b, c, c, c], [4, 1, 6, 2, 5, 3].map(draw));
}

function makePasses(base: BaseModel, save: SaveList) {
  const responses = makeResponses(base.architecture.config.vocab_size);
  const layers = new LayerPasses({ base, adapter: randomAdapter(base), save });
  const passes = new PromptPasses(layers);
  return { layers, passes, batch: packSequences(responses), prompts: distinctPrompts(responses) };
}

/** Runs prompts as a rollout does, in an order of its own. */
async function runPrompts(passes: PromptPasses, prompts: readonly Int32Array[]): Promise<void> {
  for await (const { outputs } of passes.run(new PackedBatch(prompts.toReversed()))) {
    expect(Object.keys(outputs)).toEqual(expect.arrayContaining(['y', 'k', 'v']));
  }
}

/** Gradients of a random weighting of the hidden states. */
async function gradientsOf(passes: LayerPasses, tape: Tape): Promise<Map<string, Float32Array>> {
  const random = randomStream(1, 'weights');
  const weights = tape.hidden.data.map(() => random.next() - 0.5);
  const found = new Map<string, Float32Array>();
  const take = (part: Readonly<Record<string, Float32Array>>) => {
    for (const [name, data] of Object.entries(part)) found.set(name, data.slice());
  };
  const dx = await passes.backward(tape, tensor(weights, tape.hidden.shape), take);
  return found.set('x', dx.data);
}

async function expectSame(base: BaseModel, save: SaveList): Promise<void> {
  const { layers, passes, batch, prompts } = makePasses(base, save);
  await runPrompts(passes, prompts);
  const [continued, whole] = [await passes.continue(batch, prompts), await layers.forward(batch)];
  expect(largestDifference(whole.hidden.data, continued!.hidden.data)).toBeLessThan(1e-5);
  const [some, all] = [await gradientsOf(layers, continued!), await gradientsOf(layers, whole)];
  expect(some.size).toBe(all.size);
  for (const [name, gradient] of all) {
    expect(largestDifference(gradient, some.get(name)!), name).toBeLessThan(1e-4);
  }
}

describe('PromptPasses', () => {
  it.each(fixtureNames)('gives the states and gradients of the whole pass: %s', async (family) => {
    const base = await loadFolder(fixtureFolder(family));
    await expectSame(base, 'matmul');
    await expectSame(base, 'none');
    await base.dispose();
  });

  it('runs no prompt again', async () => {
    const base = await loadFolder(fixtureFolder(fixtureNames[0]!));
    const { layers, passes, batch, prompts } = makePasses(base, 'matmul');
    await runPrompts(passes, prompts);
    const count = async (work: () => Promise<unknown>) => {
      let flops = 0;
      const end = observeRuns((run) => {
        flops += run.flops;
      });
      await work();
      end();
      return flops;
    };
    const continued = await count(() => passes.continue(batch, prompts));
    const whole = await count(() => layers.forward(batch));
    // 21 tokens of responses, 26 of prompts.
    expect(continued / whole).toBeLessThan(0.55);
    await base.dispose();
  });

  it('knows nothing of other prompts, nor of any once it was cleared', async () => {
    const base = await loadFolder(fixtureFolder(fixtureNames[0]!));
    const { passes, batch, prompts } = makePasses(base, 'matmul');
    await runPrompts(passes, prompts.slice(1));
    expect(await passes.continue(batch, prompts)).toBeUndefined();
    await runPrompts(passes, prompts);
    expect(await passes.continue(batch, prompts)).toBeDefined();
    passes.clear();
    expect(await passes.continue(batch, prompts)).toBeUndefined();
    await base.dispose();
  });
});
