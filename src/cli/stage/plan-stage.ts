import { resolve } from 'node:path';
import { toLoraConfig } from '../../base-setup/lora/lora-config.ts';
import { loadTokenizer, type Tokenizer } from '../../base-setup/tokenizer/index.ts';
import type { AnyRunConfig } from '../../config/run-config.ts';
import type { StageConfig } from '../../config/stage-config.ts';
import { PromptOrder } from '../../data/index.ts';
import type { Architecture } from '../../models/decoder/families/index.ts';
import { readConfig } from '../../models/decoder/load-model.ts';
import {
  countAdapter,
  countParameters,
  type ParameterCounts,
} from '../../models/decoder/parameter-counts.ts';
import { resolveWithProgress } from '../resolve-with-progress.ts';
import { measureMatmul } from '../train/matmul-speed.ts';
import { stageMemory } from './stage-memory.ts';

/** What a run of a stage would be. */
export interface StagePlan {
  readonly model: string;
  readonly family: string;
  readonly parameters: number;
  readonly trainable: number;
  /** What is learned from: texts, pairs or ratings. */
  readonly unit: string;
  readonly train: number;
  readonly validation: number;
  readonly warnings: readonly string[];
  readonly output: string | undefined;
  readonly stepsPerEpoch: number;
  readonly totalSteps: number;
  readonly validations: number;
  /** Tokens of the longest item: a text, or both of a pair. */
  readonly longest: number;
  /** Bytes while training. */
  readonly memory: number;
  /** Operations a second of a product of matrices, measured on this machine. */
  readonly matmulFlops: number;
  /** At that speed. */
  readonly seconds: number;
}

export type PlannedConfig = StageConfig & AnyRunConfig;

/** What a stage's data hold, and which of the model's parts it needs. */
interface PlannedData extends Pick<StagePlan, 'unit' | 'warnings'> {
  /** Tokens of each text or pair. */
  readonly trainLengths: readonly number[];
  readonly validationLengths: readonly number[];
}

interface StageRole {
  readonly isFull: boolean;
  /** What is on top of the layers: the language's head, or one with a number for each text. */
  readonly head: 'language' | 'scalar';
  loadData(context: { tokenizer: Tokenizer; contextLength: number }): Promise<PlannedData>;
}

/** Works out a stage's run from its config, the headers of its model and its data. */
export async function planStage(config: PlannedConfig, role: StageRole): Promise<StagePlan> {
  const { modelName, revision, output } = config;
  const folder = await resolveWithProgress(modelName, revision === undefined ? {} : { revision });
  const architecture = await readConfig(folder);
  const contextLength = architecture.config.max_position_embeddings;
  const tokenizer = await loadTokenizer(folder);
  const { unit, warnings, ...lengths } = await role.loadData({ tokenizer, contextLength });
  return {
    model: modelName,
    family: architecture.config.model_type,
    unit,
    train: lengths.trainLengths.length,
    validation: lengths.validationLengths.length,
    warnings,
    output: output === undefined ? undefined : resolve(output),
    ...(await planCosts(config, { architecture, role, ...lengths })),
  };
}

type Lengths = Pick<PlannedData, 'trainLengths' | 'validationLengths'>;

async function planCosts(
  config: PlannedConfig,
  { architecture, role, ...lengths }: Lengths & { architecture: Architecture; role: StageRole },
) {
  const counts = countParameters(architecture);
  const { isFull, head } = role;
  const headSize = head === 'scalar' ? architecture.config.hidden_size : 0;
  const adapter = countAdapter(architecture, toLoraConfig(config)) + headSize;
  const trainable = isFull ? counts.total : adapter;
  const all = [...lengths.trainLengths, ...lengths.validationLengths];
  const longest = all.reduce((most, length) => Math.max(most, length), 0);
  const course = planCourse(config, lengths);
  const matmulFlops = await measureMatmul();
  const flops = countFlops(config, { counts, role, course, ...lengths });
  return {
    parameters: counts.total,
    trainable,
    ...course,
    longest,
    memory: stageMemory(architecture, {
      config,
      parameters: counts.total,
      trainable,
      isFull,
      longest,
      hasLogits: head === 'language',
    }),
    matmulFlops,
    seconds: flops / matmulFlops,
  };
}

type Course = Pick<StagePlan, 'stepsPerEpoch' | 'totalSteps' | 'validations'>;

function planCourse(config: PlannedConfig, { trainLengths, validationLengths }: Lengths): Course {
  const { seed, batchSize, shuffle, numEpochs, maxSteps = Infinity, evalInterval } = config;
  const count = trainLengths.length;
  const { stepsPerEpoch } = new PromptOrder({ seed, batchSize, shuffle, count });
  const totalSteps = Math.min(numEpochs * stepsPerEpoch, maxSteps);
  const between = evalInterval === 0 ? 0 : Math.ceil(totalSteps / evalInterval) - 1;
  // At the start, at intervals and at the end.
  const validations = validationLengths.length === 0 ? 0 : between + 2;
  return { stepsPerEpoch, totalSteps, validations };
}

/** Operations of a run: a token takes 2 for each parameter forward, 2 backward to its inputs, and 2
 *  more where the parameter itself is trained. */
function countFlops(
  config: PlannedConfig,
  work: Lengths & { counts: ParameterCounts; role: StageRole; course: Course },
): number {
  const { counts, role, course, trainLengths, validationLengths } = work;
  const { total, embedding, head } = counts;
  const layers = total - embedding - head;
  const multiplied = layers + (role.head === 'scalar' ? 0 : head || embedding);
  const sum = (lengths: readonly number[]) => lengths.reduce((all, length) => all + length, 0);
  const perItem = sum(trainLengths) / trainLengths.length;
  const trained = course.totalSteps * Math.min(config.batchSize, trainLengths.length) * perItem;
  const validated = course.validations * sum(validationLengths);
  return multiplied * (trained * (role.isFull ? 6 : 4) + validated * 2);
}
