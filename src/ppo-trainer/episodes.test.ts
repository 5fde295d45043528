import { describe, expect, test } from 'vitest';
import { makeCalculatorModel } from '../../bench/tools/calculator-model.ts';
import type { PPOConfigOptions } from '../config/ppo-config.ts';
import { type AnswerRow, multiTurn, RowJournal } from '../environments/index.ts';
import type { EpisodeOptions } from './episode-context.ts';
import { PPOTrainer } from './ppo-trainer.ts';

const config: PPOConfigOptions = {
  maxNewTokens: 16,
  batchSize: 2,
  samplesPerPrompt: 2,
  ppoEpochs: 2,
  learningRate: 1e-3,
  klCoef: 0.1,
  stop: ['a', 'b', 'c', 'd', 'e', 'f', 'g', '1', '2', '3', '4', '5', '6'],
  gamma: 1,
  lam: 0.5,
  whitenAdvantages: false,
};

/** One step over two prompts, and the policy after it. */
async function runStep(
  options: EpisodeOptions & { readonly rewards?: (sample: { response: string }) => number },
) {
  const model = makeCalculatorModel(3);
  const trainer = new PPOTrainer(config, { model, ...options });
  const { tokenizer } = model;
  const prompts = ['12*34', '56*78'].map((question) => {
    const messages = [{ role: 'user', content: question }];
    const text = tokenizer.applyChatTemplate(messages, { addGenerationPrompt: true });
    return { text, tokens: tokenizer.encode(text), messages, row: { question } };
  });
  const result = await trainer.ppoStep(prompts, { step: 4 });
  const { policy, episodes } = await trainer.components();
  const weights = [...policy.adapter!.weights].map(([, { data }]) => data.slice());
  await trainer.dispose();
  await model.base.dispose();
  return { ...result, weights, warning: episodes?.takeWarning() };
}

const withoutTimes = (metrics: object) =>
  Object.entries(metrics).filter(([name]) => !/^(timing|perf|episodes|tools)\//.test(name));

describe('a PPO step with an environment', () => {
  test('of one turn equals a step without one, bit for bit', async () => {
    const rewards = ({ response }: { response: string }) => response.length;
    const plain = await runStep({ rewards });
    const environment = { hasRewards: false, answer: async () => undefined };
    const episodes = await runStep({ rewards, environment });
    expect(episodes.weights).toEqual(plain.weights);
    expect(withoutTimes(episodes.metrics)).toEqual(withoutTimes(plain.metrics));
    expect(episodes.metrics['episodes/turns']).toBe(1);
  });

  test('keeps observations out of all columns and puts rewards on the ends of turns', async () => {
    const environment = multiTurn(({ turn }) => ({
      reward: turn + 1,
      messages: [{ role: 'user', content: 'again' }],
    }));
    const { experience, details, metrics } = await runStep({ environment });
    const { sequences, offsets, rewards, kl, values, returns } = experience;
    expect(details.episodes!.some(({ turns }) => turns.length > 1)).toBe(true);
    const lengths = details.texts.map(({ tokens }) => tokens.length);
    expect(metrics['completions/mean_length']).toBe(lengths.reduce((a, b) => a + b) / 4);
    for (const [i, { turns }] of details.episodes!.entries()) {
      const start = offsets[i]!;
      const expected = Array.from(kl.subarray(start, offsets[i + 1]!), (x) => -0.1 * x);
      for (const [k, { end }] of turns.entries()) expected[end - 1]! += k + 1;
      const actual = Array.from(rewards.subarray(start, offsets[i + 1]!));
      for (const [t, reward] of expected.entries()) expect(actual[t]).toBeCloseTo(reward, 5);
      expect(sequences[i]!.observations!.length).toBe(turns.length - 1);
      // GAE over actions: A_t = δ_t + γλA_{t+1}, where t + 1 is the next sampled token.
      let advantage = 0;
      for (let t = offsets[i + 1]! - 1; t >= start; t--) {
        const next = t + 1 < offsets[i + 1]! ? values[t + 1]! : 0;
        advantage = rewards[t]! + next - values[t]! + 0.5 * advantage;
        expect(returns[t]).toBeCloseTo(advantage + values[t]!, 4);
      }
    }
  });

  test('uses recorded answers instead of asking again, with the same bits', async () => {
    const rows: AnswerRow[] = [];
    let calls = 0;
    const environment = multiTurn(() => ({
      reward: ++calls,
      messages: [{ role: 'user', content: `call ${calls}` }],
    }));
    const journal = new RowJournal([], (row) => void rows.push(row));
    const first = await runStep({ environment, journal });
    const stored: AnswerRow[] = JSON.parse(JSON.stringify(rows));
    const broken = multiTurn(() => {
      throw new Error('asked again');
    });
    const replay = new RowJournal(stored, () => {});
    const second = await runStep({ environment: broken, journal: replay });
    expect(second.weights).toEqual(first.weights);
    const half = new RowJournal(stored.slice(0, 2), () => {});
    await expect(runStep({ environment: broken, journal: half })).rejects.toThrow('asked again');
  });
});
