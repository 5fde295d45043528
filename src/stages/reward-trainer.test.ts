import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { largestDifference } from '../../test/helpers/pass-checks.ts';
import { keepCheckpoints, tinyLoaded } from '../../test/helpers/ppo-run.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import type { RewardConfigOptions } from '../config/stage-config.ts';
import { randomStream } from '../engine/random/index.ts';
import type { TrainEvent } from '../loop/index.ts';
import { BaseModel, loadRewardModel } from '../models/index.ts';
import { type PreferenceTexts, pairMetrics, type RatedText } from './reward-objective.ts';
import { RewardTrainer } from './reward-trainer.ts';

/** Random texts; the one with more small ids is preferred. */
function makeTexts(count: number, seed: number): Int32Array[] {
  const random = randomStream(seed, 'texts');
  return Array.from({ length: count }, () =>
    Int32Array.from({ length: 4 + random.integer(5) }, () => 2 + random.integer(8)),
  );
}

const quality = (text: Int32Array) => text.filter((id) => id < 6).length / text.length;

function makePairs(count: number, seed: number): PreferenceTexts[] {
  const texts = makeTexts(2 * count, seed);
  return Array.from({ length: count }, (_, i) => {
    const [a, b] = [texts[2 * i]!, texts[2 * i + 1]!];
    return quality(a) >= quality(b) ? { chosen: a, rejected: b } : { chosen: b, rejected: a };
  }).filter(({ chosen, rejected }) => quality(chosen) > quality(rejected));
}

const config: RewardConfigOptions = {
  numEpochs: 5,
  batchSize: 16,
  learningRate: 1e-2,
  loraR: 8,
  loraTargets: ['all-linear'],
  loraDropout: 0.05,
  evalInterval: 0,
  saveInterval: 5,
};

async function train(texts = makePairs(240, 1), options = {}, more: RewardConfigOptions = {}) {
  const trainer = new RewardTrainer({ ...config, ...more }, { model: tinyLoaded });
  const results = await trainer.train(texts, options);
  const { adapter, head } = await trainer.model();
  const weights = [...adapter!.weights.values(), head].map(({ data }) => data.slice());
  return { trainer, results, weights };
}

describe('RewardTrainer', () => {
  it('predicts the preferred text of unseen pairs', async () => {
    const validation = makePairs(80, 2);
    const { trainer, results } = await train(undefined, { validation });
    expect(results.evaluation!['eval/accuracy']).toBeGreaterThan(0.8);
    expect(results.evaluation!['eval/margin']).toBeGreaterThan(0);
    const { accuracy } = await trainer.evaluate(validation);
    expect(accuracy).toBe(results.evaluation!['eval/accuracy']);
  });

  it('learns from ratings', async () => {
    const rated = (seed: number): RatedText[] =>
      makeTexts(240, seed).map((text) => ({ text, rating: quality(text) }));
    const trainer = new RewardTrainer(config, { model: tinyLoaded });
    await trainer.train(rated(1), { validation: rated(2).slice(0, 40) });
    const { accuracy } = await trainer.evaluate(makePairs(80, 3));
    expect(accuracy).toBeGreaterThan(0.75);
  });

  const pairs = makePairs(60, 6).map((pair, i) => ({
    ...pair,
    ...{ margin: (i % 3) / 2, weight: 1 + (i % 2), target: [1, 0.5, 0.8][i % 3] },
  }));
  const ratings = makeTexts(60, 7).map((text) => ({ text, rating: quality(text) }));
  it.each([
    ['pairs', pairs],
    ['ratings', ratings],
  ])('learns the same from %s in one run and with one layer per session', async (_, texts) => {
    const learn = async (layersPerSession: number) => {
      const { architecture, weights: frozen } = tinyLoaded.base;
      const base = new BaseModel(architecture, frozen, { layersPerSession });
      const model = { ...tinyLoaded, base };
      const options = { ...config, numEpochs: 2, maxTokensAtOnce: 100 };
      const trainer = new RewardTrainer(options, { model });
      const { metrics } = await trainer.train(texts);
      const { adapter, head } = await trainer.model();
      return { metrics, weights: [...adapter!.weights.values(), head].map(({ data }) => data) };
    };
    const [joint, separate] = [await learn(2), await learn(1)];
    for (const [i, weights] of joint.weights.entries()) {
      expect(largestDifference(weights, separate.weights[i]!)).toBeLessThan(1e-4);
    }
    expect(joint.metrics['train/loss']).toBeCloseTo(separate.metrics['train/loss']!, 5);
  });

  it('reports the same accuracy for inverted labels, and none for ties', async () => {
    const pairs = makePairs(40, 5);
    const inverted = pairs.map(({ chosen, rejected }) => ({
      ...{ chosen: rejected, rejected: chosen, target: 0 },
    }));
    const firstMetrics = async (texts: readonly PreferenceTexts[]) => {
      const metrics: Record<string, number>[] = [];
      const onEvent = (event: TrainEvent) => {
        if (event.type === 'step') metrics.push({ ...event.metrics });
      };
      await train([...texts], { onEvent }, { maxSteps: 1, loraDropout: 0 });
      return metrics[0]!;
    };
    const plain = await firstMetrics(pairs);
    const other = await firstMetrics(inverted);
    expect(other['train/accuracy']).toBe(plain['train/accuracy']);
    expect(other['train/margin']).toBeCloseTo(plain['train/margin']!, 5);
    const ties = await firstMetrics(pairs.map((pair) => ({ ...pair, target: 0.5 })));
    expect(ties['train/loss']).toBeGreaterThan(0);
    expect(ties).not.toHaveProperty('train/accuracy');
  });

  it('resumes from a checkpoint exactly', async () => {
    const folder = makeTempFolder();
    const texts = makePairs(80, 1);
    const whole = await train(texts, { saveCheckpoint: keepCheckpoints(folder) });
    const resumed = await train(texts, { resumeFrom: join(folder, 'checkpoint-10') });
    expect(resumed.weights).toEqual(whole.weights);
  });

  it.each(['all', 1])(
    'saves a model with the same normalised scores: loraLayers %s',
    async (loraLayers) => {
      const { trainer, weights } = await train(makePairs(80, 1), {}, { maxSteps: 4, loraLayers });
      // A and B of seven modules in each of two layers or in one, and the head.
      expect(weights).toHaveLength(loraLayers === 1 ? 15 : 29);
      const texts = makeTexts(50, 4);
      await trainer.normalize(texts);
      const model = await trainer.model();
      const scores = await model.forward(texts);
      const mean = scores.reduce((sum, x) => sum + x, 0) / 50;
      const variance = scores.reduce((sum, x) => sum + (x - mean) ** 2, 0) / 49;
      expect(mean).toBeCloseTo(0, 5);
      expect(variance).toBeCloseTo(1, 4);
      const folder = makeTempFolder();
      await trainer.saveModel(folder);
      const loaded = await loadRewardModel(folder, tinyLoaded);
      expect(await loaded.forward(texts)).toEqual(scores);
      const layers = loraLayers === 1 ? [1] : undefined;
      expect(loaded.adapter!.config.layers_to_transform).toEqual(layers);
    },
  );
});

describe('pairMetrics()', () => {
  it('measures how often, by how much and how confidently the chosen side wins', () => {
    const pair = { chosen: Int32Array.of(1), rejected: Int32Array.of(2) };
    const scores = Float32Array.of(Math.log(3), 0, 0, Math.log(3));
    const { accuracy, margin, calibration, loss } = pairMetrics(scores, [pair, pair]);
    expect(accuracy).toBe(0.5);
    expect(margin).toBeCloseTo(0, 7);
    expect(calibration).toBeCloseTo(0.25, 6);
    expect(loss).toBeCloseTo((Math.log(4 / 3) + Math.log(4)) / 2, 6);
  });

  it('leaves ties out of the accuracy', () => {
    const pair = { chosen: Int32Array.of(1), rejected: Int32Array.of(2) };
    const scores = Float32Array.of(0, 1, 2, 0);
    expect(pairMetrics(scores, [{ ...pair, target: 0.5 }, pair]).accuracy).toBe(1);
  });
});
