import { join } from 'node:path';
import { z } from 'zod';
import type { StageConfig } from '../config/stage-config.ts';
import type { ParameterGroup } from '../engine/optim/index.ts';
import { memoryMetrics } from '../engine/runtime/index.ts';
import {
  type Metrics,
  NonFiniteError,
  readArrays,
  type Training,
  writeArrays,
} from '../loop/index.ts';
import type { Weights } from '../models/index.ts';
import { explainDeviceFailure } from '../training/device-failure.ts';
import type { RoleOptimizer } from '../training/index.ts';

/** What differs between supervised fine-tuning and reward-model training. */
export interface Stage {
  readonly optimizer: RoleOptimizer;
  /** The arrays that are trained in place, by name. */
  readonly parameters: Readonly<Record<string, Float32Array>>;
  /** Number of training texts. */
  readonly count: number;
  /** Accumulates the gradients of some texts. `step` keys the random streams. */
  accumulate(indices: Int32Array, context: { readonly step: number }): Promise<Metrics>;
  /** Metrics on held-out texts, `eval/loss` among them; undefined if there are none. */
  validate(): Promise<Metrics | undefined>;
}

const stateSchema = z.strictObject({
  optimizerStep: z.int().min(0),
  /** The lowest validation loss so far. */
  bestLoss: z.number().nullable(),
});

const files = { weights: 'weights.safetensors', moments: 'optimizer.safetensors' };

/** Turns a stage into what the training loop repeats: one optimiser step at a time. The best model
 *  is the one with the lowest validation loss. */
export function stageTraining(stage: Stage, config: StageConfig): Training {
  const { optimizer, parameters } = stage;
  let bestLoss: number | null = null;
  return {
    count: stage.count,
    identity: () => ({ ...config }),
    start: (totalSteps) => {
      optimizer.start(totalSteps);
      bestLoss = null;
    },
    step: async (indices, { step }) => {
      const start = performance.now();
      const lr = optimizer.learningRate;
      const metrics = await stage.accumulate(indices, { step }).catch((error: unknown) => {
        const { maxTokensAtOnce, batchSize } = config;
        throw explainDeviceFailure(error, { maxTokensAtOnce, batchSize });
      });
      const norm = optimizer.gradientNorm();
      expectFinite({ ...metrics, 'train/grad_norm': norm });
      optimizer.step();
      return {
        episodes: indices.length,
        metrics: {
          ...metrics,
          'train/grad_norm': norm,
          lr,
          'timing/step': (performance.now() - start) / 1000,
          ...memoryMetrics(),
        },
      };
    },
    evaluate: async () => {
      const metrics = await stage.validate();
      if (metrics === undefined) return undefined;
      const loss = metrics['eval/loss']!;
      const improved = bestLoss === null || loss < bestLoss;
      if (improved) bestLoss = loss;
      return { metrics, improved };
    },
    state: {
      save: async (folder) => {
        const { step, tensors } = optimizer.state();
        await writeArrays(join(folder, files.weights), parameters);
        await writeArrays(join(folder, files.moments), tensors);
        return { optimizerStep: step, bestLoss };
      },
      load: async (folder, saved) => {
        const state = stateSchema.parse(saved);
        await loadWeights(join(folder, files.weights), parameters);
        const tensors = await readArrays(join(folder, files.moments));
        optimizer.restore({ step: state.optimizerStep, tensors });
        bestLoss = state.bestLoss;
      },
    },
  };
}

/** Copies saved weights into the arrays in use. */
async function loadWeights(file: string, parameters: Stage['parameters']): Promise<void> {
  const weights = await readArrays(file);
  for (const [name, array] of Object.entries(parameters)) {
    const values = weights[name];
    if (values?.length !== array.length) {
      throw new Error(
        `Cannot resume from ${file}: "${name}" must have ${array.length} numbers, got ${values?.length ?? 'none'}; choose a checkpoint of this model`,
      );
    }
    array.set(values);
  }
}

/** Weight decay applies to matrices, not to norms, biases and heads. */
export function parameterGroups(
  weights: Weights,
  { learningRate, weightDecay }: { learningRate: number; weightDecay: number },
): ParameterGroup[] {
  const select = (isMatrix: boolean) =>
    Object.fromEntries(
      [...weights]
        .filter(([, { shape }]) => shape.length > 1 === isMatrix)
        .map(([name, { data }]) => [name, data]),
    );
  return [
    { parameters: select(true), learningRate, weightDecay },
    { parameters: select(false), learningRate },
  ];
}

function expectFinite(metrics: Metrics): void {
  const bad = Object.entries(metrics).find(([, value]) => !Number.isFinite(value));
  if (bad === undefined) return;
  throw new NonFiniteError(`${bad[0]} must be finite, got ${bad[1]}; lower the learning rate`);
}
