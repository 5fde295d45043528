import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PPOConfigOptions } from '../../src/config/ppo-config.ts';
import type { TrainEvent } from '../../src/loop/index.ts';
import { orderedWeights, quantizeBase } from '../../src/models/decoder/quantize-base.ts';
import type { LoadedModel } from '../../src/models/index.ts';
import {
  PPOTrainer,
  type PPOTrainerOptions,
  type TrainingResults,
  type TrainOptions,
} from '../../src/ppo-trainer/index.ts';
import { tinyModel, tinyTokenizer } from './generation-tiny-model.ts';

/** The reward of these runs: words that end in x. */
export function countX({ response }: { readonly response: string }): number {
  return response.split(' ').filter((word) => word.endsWith('x')).length / 6;
}

export const tinyPrompts = ['a b', 'c', 'd e f', 'g', 'h i', 'j k'];

/** One base for all runs of a file: runs never change it. */
export const tinyLoaded: LoadedModel = {
  base: tinyModel(1),
  tokenizer: tinyTokenizer(),
  folder: 'tiny',
};

/** The same with its matrices in bytes. */
export const tinyBytes: LoadedModel = {
  ...tinyLoaded,
  base: await quantizeBase(tinyLoaded.base.architecture, orderedWeights(tinyLoaded.base)),
};

/** A config in which every part has state that resuming must restore. */
export const statefulConfig: PPOConfigOptions = {
  maxNewTokens: 6,
  batchSize: 2,
  samplesPerPrompt: 2,
  ppoEpochs: 2,
  miniBatchSize: 2,
  microBatchSize: 1,
  learningRate: 1e-2,
  valueLearningRate: 1e-2,
  schedule: 'linear',
  warmupSteps: 2,
  klController: 'adaptive',
  klTarget: 0.5,
  klHorizon: 20,
  scoreNormalization: 'running',
  loraR: 4,
};

export interface TinyRun {
  readonly results: TrainingResults;
  readonly events: readonly TrainEvent[];
  /** All trained weights at the end. */
  readonly weights: Readonly<Record<string, Float32Array>>;
}

/** Trains the tiny model and collects the events of the run. */
export async function trainTiny(
  config: PPOConfigOptions,
  { onEvent, ...options }: TrainOptions = {},
  trainerOptions: PPOTrainerOptions = {},
): Promise<TinyRun> {
  const model = config.basePrecision === 'int8' ? tinyBytes : tinyLoaded;
  const trainer = new PPOTrainer(config, { model, rewards: countX, ...trainerOptions });
  const events: TrainEvent[] = [];
  const results = await trainer.train(tinyPrompts, {
    numEpochs: 2,
    ...options,
    onEvent: async (event) => {
      events.push(event);
      await onEvent?.(event);
    },
  });
  return { results, events, weights: await trainedWeights(trainer) };
}

/** Copies of all weights that a trainer trains. */
export async function trainedWeights(trainer: PPOTrainer): Promise<Record<string, Float32Array>> {
  const { policy, value } = await trainer.components();
  const weights: Record<string, Float32Array> = {};
  for (const [role, model] of Object.entries({ policy, value })) {
    for (const [name, { data }] of model?.adapter?.weights ?? []) {
      weights[`${role} ${name}`] = data.slice();
    }
  }
  for (const [name, data] of Object.entries(value?.headParameters() ?? {})) {
    weights[`value ${name}`] = data.slice();
  }
  return weights;
}

/** Saves every checkpoint in its own folder. */
export function keepCheckpoints(folder: string) {
  return async (write: (folder: string) => Promise<void>, { step }: { step: number }) => {
    const path = join(folder, `checkpoint-${step}`);
    mkdirSync(path, { recursive: true });
    await write(path);
    return path;
  };
}

/** The events of a run without timings. */
export function withoutTimes(events: readonly TrainEvent[]): unknown[] {
  return events.flatMap((event): unknown[] => {
    if (event.type === 'phase' || event.type === 'checkpoint') return [];
    if (event.type !== 'step' && event.type !== 'epoch') return [event];
    const metrics = Object.entries(event.metrics).filter(
      ([name]) => !/^(timing|perf)\//.test(name),
    );
    return [{ ...event, metrics: Object.fromEntries(metrics) }];
  });
}
