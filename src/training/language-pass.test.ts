import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fixtureFolder } from '../../test/helpers/model-fixtures.ts';
import { readSafetensors } from '../../test/helpers/runtime-safetensors.ts';
import { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import { resolvePPOConfig } from '../config/ppo-config.ts';
import { randomStream } from '../engine/random/index.ts';
import { loadBase, readConfig } from '../models/decoder/load-model.ts';
import { type LearnedText, languageGradients, learnedRows, packTexts } from './language-pass.ts';
import { RoleOptimizer } from './role-optimizer.ts';

const fixtures = fileURLToPath(new URL('../../test/fixtures/sft', import.meta.url));

async function readGolden(name: string) {
  const { loss, texts } = JSON.parse(readFileSync(`${fixtures}/${name}.json`, 'utf8')) as {
    loss: number;
    texts: { tokens: number[]; prompt: number }[];
  };
  const learned = texts.map(({ tokens, prompt }): LearnedText => {
    const places = tokens.map((_, place) => place).slice(prompt);
    return { tokens: Int32Array.from(tokens), learned: Int32Array.from(places) };
  });
  const folder = fixtureFolder(name);
  const base = await loadBase(folder, await readConfig(folder));
  return { base, loss, texts: learned };
}

/** An optimiser that only accumulates gradients. */
function gatherer(parameters: Record<string, Float32Array>) {
  const sums = new Map(
    Object.entries(parameters).map(([k, { length }]) => [k, new Float32Array(length)]),
  );
  const optimizer = new RoleOptimizer([{ parameters, learningRate: 1 }], resolvePPOConfig());
  const add = optimizer.add;
  Object.assign(optimizer, {
    add: (gradients: Record<string, Float32Array>) => {
      add(gradients);
      for (const [name, g] of Object.entries(gradients)) {
        const sum = sums.get(name)!;
        g.forEach((x, i) => {
          sum[i] = sum[i]! + x;
        });
      }
    },
  });
  return { optimizer, sums };
}

const countLearned = (texts: readonly LearnedText[]) =>
  texts.reduce((sum, { learned }) => sum + learned.length, 0);

describe('languageGradients()', () => {
  it.each(['qwen3-tied', 'llama-mha-untied', 'gpt2-default'])(
    'equals transformers’ loss on completions and its gradient with respect to every weight: %s',
    async (name) => {
      const { base, loss, texts } = await readGolden(name);
      const weights = [...base.weights].map(([key, { data }]) => [key, data] as const);
      const { optimizer, sums } = gatherer(Object.fromEntries(weights));
      const tokenCount = countLearned(texts);
      const accumulate = optimizer.add;
      const got = await languageGradients({ base }, texts, { tokenCount, accumulate });
      expect(got).toBeCloseTo(loss, 5);
      const { tensors } = await readSafetensors(`${fixtures}/${name}.safetensors`);
      expect([...sums.keys()].sort()).toEqual(Object.keys(tensors).sort());
      for (const [key, { data: wanted }] of Object.entries(tensors)) {
        const largest = wanted.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
        wanted.forEach((x, i) => {
          expect(Math.abs(sums.get(key)![i]! - x), key).toBeLessThan(1e-4 * largest);
        });
      }
    },
  );

  it('computes the same loss and gradients for texts together and one by one', async () => {
    const { base, texts } = await readGolden('qwen3-tied');
    const tokenCount = countLearned(texts);
    const weights = Object.fromEntries([...base.weights].map(([key, { data }]) => [key, data]));
    const [whole, parts] = [gatherer(weights), gatherer(weights)];
    const loss = await languageGradients({ base }, texts, {
      tokenCount,
      accumulate: whole.optimizer.add,
    });
    let sum = 0;
    for (const text of texts)
      sum += await languageGradients({ base }, [text], {
        tokenCount,
        accumulate: parts.optimizer.add,
      });
    expect(sum).toBeCloseTo(loss, 5);
    for (const [key, wanted] of whole.sums) {
      const got = parts.sums.get(key)!;
      wanted.forEach((x, i) => {
        expect(got[i]).toBeCloseTo(x, 5);
      });
    }
  });

  it('trains an adapter with the dropout masks of the random stream', async () => {
    const { base, texts } = await readGolden('qwen3-tied');
    const tokenCount = countLearned(texts);
    const config = { r: 2, lora_alpha: 4, lora_dropout: 0.5 };
    const adapter = LoraAdapter.create(config, base.modules());
    for (const [key, { data }] of adapter.weights) if (key.includes('lora_B')) data.fill(0.05);
    const arrays = Object.fromEntries([...adapter.weights].map(([key, { data }]) => [key, data]));
    const losses: number[] = [];
    for (const dropout of [undefined, randomStream(1), randomStream(1), randomStream(2)]) {
      const { optimizer } = gatherer(arrays);
      const options = { tokenCount, dropout, accumulate: optimizer.add };
      losses.push(await languageGradients({ base, adapter }, texts, options));
    }
    const [none, first, same, other] = losses;
    expect(same).toBe(first);
    expect(other).not.toBe(first);
    expect(none).not.toBe(first);
  });
});

describe('learnedRows()', () => {
  it('finds the row before each learned token', () => {
    const texts = [
      { tokens: Int32Array.of(5, 6, 7), learned: Int32Array.of(1, 2) },
      { tokens: Int32Array.of(8, 9), learned: Int32Array.of(1) },
    ];
    const { rows, targets } = learnedRows(texts, packTexts(texts));
    expect([...rows]).toEqual([0, 1, 3]);
    expect([...targets]).toEqual([6, 7, 9]);
  });
});
