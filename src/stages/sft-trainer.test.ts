import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeByteLevelModel } from '../../test/helpers/byte-level-model.ts';
import { tinyModel, tinyTokenizer } from '../../test/helpers/generation-tiny-model.ts';
import { largestDifference } from '../../test/helpers/pass-checks.ts';
import { keepCheckpoints } from '../../test/helpers/ppo-run.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { readAdapter } from '../base-setup/index.ts';
import type { SFTConfigOptions } from '../config/stage-config.ts';
import type { TrainEvent } from '../loop/events.ts';
import { BaseModel, loadModel } from '../models/index.ts';
import type { LearnedText } from '../training/index.ts';
import { SFTTrainer, type SFTTrainOptions } from './sft-trainer.ts';

/** Texts that count up from a start, modulo ten; the start is the prompt. */
function counts(starts: readonly number[]): LearnedText[] {
  return starts.map((start) => ({
    tokens: Int32Array.from({ length: 8 }, (_, t) => 5 + ((start + t) % 10)),
    learned: Int32Array.of(1, 2, 3, 4, 5, 6, 7),
  }));
}

/** A new model per test, because full training changes it. */
function makeModel(dropout = 0, layersPerSession?: number) {
  const { architecture, weights } = tinyModel(1);
  const config = { ...architecture.config, embd_pdrop: dropout, resid_pdrop: dropout };
  const base = new BaseModel({ ...architecture, config }, weights, {
    ...(layersPerSession && { layersPerSession }),
  });
  return { base, tokenizer: tinyTokenizer(), folder: 'tiny' };
}

const config: SFTConfigOptions = {
  numEpochs: 12,
  batchSize: 4,
  learningRate: 1e-2,
  loraR: 4,
  loraTargets: ['all-linear'],
  evalInterval: 6,
  saveInterval: 5,
  weightDecay: 0.01,
  warmupSteps: 2,
};

const texts = counts([0, 1, 2, 3, 4, 5, 6, 0, 2, 4, 6, 1]);
const validation = counts([7, 8, 9]);

interface TestOptions extends SFTTrainOptions {
  /** Dropout of the model. */
  readonly dropout?: number;
  readonly layersPerSession?: number;
}

async function train(options: SFTConfigOptions, testOptions: TestOptions = {}) {
  const { dropout = 0, layersPerSession, ...more } = testOptions;
  const model = makeModel(dropout, layersPerSession);
  const trainer = new SFTTrainer({ ...config, ...options }, { model });
  const events: TrainEvent[] = [];
  const onEvent = (event: TrainEvent) => void events.push(event);
  const results = await trainer.train(texts, { validation, onEvent, ...more });
  const { adapter, base } = await trainer.model();
  const weights = [...(adapter ?? base).weights].map(([name, { data }]) => [name, data] as const);
  return { trainer, model, results, events, weights: Object.fromEntries(weights) };
}

describe('SFTTrainer', () => {
  it.each([
    ['an adapter', { fullParameters: false }],
    ['an adapter on the upper layer', { loraLayers: 1, learningRate: 2e-2 }],
    ['all weights', { fullParameters: true, learningRate: 3e-3 }],
  ])('lowers the loss on held-out texts, with %s', async (_, options) => {
    const { events, results, trainer } = await train(options);
    const losses = events.flatMap((event) =>
      event.type === 'evaluation' ? [event.metrics['eval/loss']!] : [],
    );
    expect(losses).toHaveLength(7);
    expect(losses.at(-1)).toBeLessThan(losses[0]! - 1);
    expect(results.evaluation!['eval/perplexity']).toBeCloseTo(Math.exp(losses.at(-1)!), 6);
    expect((await trainer.evaluate(validation)).loss).toBeCloseTo(losses.at(-1)!, 6);
  });

  it.each([{ fullParameters: false }, { fullParameters: true }, { loraLayers: 1 }])(
    'resumes from a checkpoint exactly: %j',
    async (options) => {
      const folder = makeTempFolder();
      const saveCheckpoint = keepCheckpoints(folder);
      const whole = await train(options, { saveCheckpoint });
      const resumed = await train(options, { resumeFrom: join(folder, 'checkpoint-15') });
      expect(resumed.weights).toEqual(whole.weights);
      expect(resumed.results.metrics['train/loss']).toBe(whole.results.metrics['train/loss']);
      await expect(
        train({ ...options, seed: 3 }, { resumeFrom: join(folder, 'checkpoint-15') }),
      ).rejects.toThrow('Cannot resume: seed must be 0 as when the run started, got 3');
    },
  );

  it.each([0, 0.1])(
    'learns the same in one run and with one layer per session, with dropout %s of the adapter',
    async (loraDropout) => {
      const options = { loraDropout, numEpochs: 2 };
      const joint = await train(options, { layersPerSession: 2 });
      const separate = await train(options, { layersPerSession: 1 });
      for (const [name, weights] of Object.entries(joint.weights)) {
        expect(largestDifference(weights, separate.weights[name]!), name).toBeLessThan(1e-4);
      }
      const losses = ({ events }: typeof joint) =>
        Float32Array.from(
          events.flatMap((event) => (event.type === 'step' ? [event.metrics['train/loss']!] : [])),
        );
      expect(largestDifference(losses(joint), losses(separate))).toBeLessThan(1e-5);
    },
  );

  it('trains all weights with the dropout of the model, and resumes exactly', async () => {
    const folder = makeTempFolder();
    const options = { fullParameters: true, maxSteps: 10 };
    const more = { dropout: 0.1, saveCheckpoint: keepCheckpoints(folder) };
    const whole = await train(options, more);
    const resumeFrom = join(folder, 'checkpoint-5');
    expect((await train(options, { dropout: 0.1, resumeFrom })).weights).toEqual(whole.weights);
    expect((await train(options, { dropout: 0.1 })).weights).toEqual(whole.weights);
    const plain = await train(options);
    for (const [name, weight] of Object.entries(whole.weights)) {
      expect(weight, name).not.toEqual(plain.weights[name]);
    }
  });

  it('trains an adapter without the dropout of the model', async () => {
    const options = { maxSteps: 3 };
    const [some, none] = [await train(options, { dropout: 0.5 }), await train(options)];
    expect(some.weights).toEqual(none.weights);
  });

  it('trains the same for any number of tokens that run together', async () => {
    const few = await train({ maxTokensAtOnce: 8, loraDropout: 0, maxSteps: 4 });
    const many = await train({ loraDropout: 0, maxSteps: 4 });
    for (const [name, wanted] of Object.entries(many.weights)) {
      wanted.forEach((x, i) => {
        expect(few.weights[name]![i]).toBeCloseTo(x, 3);
      });
    }
  });

  it('saves an adapter that PEFT can read, or an equivalent merged model', async () => {
    const [source, adapterFolder, mergedFolder] = [
      makeTempFolder(),
      makeTempFolder(),
      makeTempFolder(),
    ];
    await writeByteLevelModel(source);
    const model = await loadModel(source);
    const trainer = new SFTTrainer({ ...config, maxSteps: 6 }, { model });
    await trainer.train(texts);
    const { loss } = await trainer.evaluate(validation);
    await trainer.saveModel(adapterFolder);
    const { adapter } = await readAdapter(adapterFolder, model.base);
    expect(adapter.weights.size).toBe(28);
    await trainer.saveModel(mergedFolder, { merged: true });
    const merged = new SFTTrainer({}, { model: await loadModel(mergedFolder) });
    expect((await merged.evaluate(validation)).loss).toBeCloseTo(loss, 4);
  });

  it('stops cleanly when it is interrupted', async () => {
    const stop = new AbortController();
    const onEvent = ({ type, step }: TrainEvent) => {
      if (type === 'step' && step === 3) stop.abort();
    };
    const folder = makeTempFolder();
    const saveCheckpoint = keepCheckpoints(folder);
    const interrupted = await train({}, { onEvent, signal: stop.signal, saveCheckpoint });
    expect(interrupted.results).toMatchObject({ reason: 'interrupted', steps: 3 });
    const resumed = await train({}, { resumeFrom: join(folder, 'checkpoint-3') });
    const whole = await train({});
    expect(resumed.weights).toEqual(whole.weights);
  });

  it('rejects texts without anything to learn', async () => {
    const trainer = new SFTTrainer({}, { model: makeModel() });
    const empty = { tokens: Int32Array.of(1, 2), learned: new Int32Array() };
    await expect(trainer.train([])).rejects.toThrow('there must be texts, got none');
    await expect(trainer.train([...texts, empty])).rejects.toThrow('text 12 must have tokens');
  });
});
