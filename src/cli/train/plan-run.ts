import { resolve } from 'node:path';
import { toLoraConfig } from '../../base-setup/lora/lora-config.ts';
import { loadTokenizer } from '../../base-setup/tokenizer/index.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { type PromptDataset, PromptOrder } from '../../data/index.ts';
import type { Architecture } from '../../models/decoder/families/index.ts';
import { readConfig } from '../../models/decoder/load-model.ts';
import {
  countAdapter,
  countParameters,
  type ParameterCounts,
} from '../../models/decoder/parameter-counts.ts';
import type { MemoryEstimate } from '../../ppo-trainer/memory-estimate.ts';
import { optimizerSteps } from '../../ppo-trainer/ppo-step.ts';
import { describeFit, fitMemory } from '../../run/fit-memory.ts';
import { describeDropped, loadRunPrompts } from '../../run/load-run-prompts.ts';
import { asksPeopleAlone, checkRewards } from '../../run/reward-specs.ts';
import { resolveWithProgress } from '../resolve-with-progress.ts';
import { measureMatmul } from './matmul-speed.ts';

/** What a run would be. */
export interface RunPlan {
  readonly model: string;
  readonly family: string;
  readonly parameters: number;
  /** Parameters that are trained; the value model's are 0 where there is none. */
  readonly trainable: { readonly policy: number; readonly value: number };
  readonly prompts: { readonly train: number; readonly validation: number };
  /** What was left out of the prompts, and why. */
  readonly dropped: string | undefined;
  readonly rewards: readonly string[];
  readonly output: string | undefined;
  readonly stepsPerEpoch: number;
  readonly totalSteps: number;
  readonly responsesPerStep: number;
  readonly optimizerSteps: number;
  readonly evaluations: number;
  readonly longestSequence: number;
  readonly memory: MemoryEstimate;
  /** How the run fits into its memory, where that is limited. */
  readonly fit: string | undefined;
  /** Operations a second of a product of matrices, measured on this machine. */
  readonly matmulFlops: number;
  /** At that speed, with every response of full length. */
  readonly seconds: number;
}

/** Works out a run from its config, the headers of its model and its prompts. */
export async function planRun(config: RunConfig): Promise<RunPlan> {
  checkRewards(config);
  const { modelName, revision, reward, output } = config;
  const folder = await resolveWithProgress(modelName, revision === undefined ? {} : { revision });
  const architecture = await readConfig(folder);
  const contextLength = architecture.config.max_position_embeddings;
  const tokenizer = await loadTokenizer(folder);
  const dataset = await loadRunPrompts(config, { tokenizer, contextLength });
  return {
    model: modelName,
    family: architecture.config.model_type,
    prompts: { train: dataset.train.length, validation: dataset.validation.length },
    dropped: describeDropped(dataset.report),
    rewards: reward,
    output: output === undefined ? undefined : resolve(output),
    ...(await planCosts(config, { architecture, dataset })),
  };
}

type Costs = Omit<RunPlan, 'model' | 'family' | 'prompts' | 'dropped' | 'rewards' | 'output'>;

async function planCosts(
  config: RunConfig,
  { architecture, dataset }: { architecture: Architecture; dataset: PromptDataset },
): Promise<Costs> {
  const counts = countParameters(architecture);
  const policy = countAdapter(architecture, toLoraConfig(config));
  const hasValue = config.advantageEstimator === 'gae';
  const value = hasValue ? policy + architecture.config.hidden_size : 0;
  const course = planCourse(config, dataset);
  const lengths = [...dataset.train, ...dataset.validation].map(({ tokens }) => tokens.length);
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  const mean = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  const length = longest + config.maxNewTokens;
  const parameters = counts.total;
  const fitted = fitMemory(config, { architecture, prompts: dataset });
  const matmulFlops = await measureMatmul();
  const meanLength = mean + config.maxNewTokens;
  const work = countFlops(config, { parameters: counts, hasValue, meanLength, course, dataset });
  return {
    parameters,
    trainable: { policy, value },
    ...course,
    longestSequence: length,
    memory: fitted.estimate,
    fit: config.memory === undefined ? undefined : describeFit(fitted),
    matmulFlops,
    seconds: work / matmulFlops,
  };
}

type Course = Pick<
  RunPlan,
  'stepsPerEpoch' | 'totalSteps' | 'responsesPerStep' | 'optimizerSteps' | 'evaluations'
>;

function planCourse(config: RunConfig, { train, validation }: PromptDataset): Course {
  const { seed, batchSize, shuffle, numEpochs, maxSteps = Infinity, evalInterval } = config;
  const { stepsPerEpoch } = new PromptOrder({ seed, batchSize, shuffle, count: train.length });
  const totalSteps = Math.min(numEpochs * stepsPerEpoch, maxSteps);
  const responsesPerStep = batchSize * config.samplesPerPrompt;
  const between = evalInterval === 0 ? 0 : Math.ceil(totalSteps / evalInterval) - 1;
  const canEvaluate = validation.length > 0 && !asksPeopleAlone(config);
  return {
    stepsPerEpoch,
    totalSteps,
    responsesPerStep,
    optimizerSteps: optimizerSteps(config, totalSteps),
    // At the start, at intervals and at the end.
    evaluations: canEvaluate ? between + 2 : 0,
  };
}

interface Work {
  readonly parameters: ParameterCounts;
  readonly hasValue: boolean;
  readonly meanLength: number;
  readonly course: Course;
  readonly dataset: PromptDataset;
}

/** Operations of a run: a token takes 2 for each parameter of a pass, forward or backward, and
 *  generation, which is bound by memory, counts twice. */
function countFlops(config: RunConfig, work: Work): number {
  const { parameters, hasValue, meanLength, course, dataset } = work;
  // An embedding is looked up; where it is the output head as well, it is also multiplied.
  const multiplied = parameters.total - (parameters.head > 0 ? parameters.embedding : 0);
  const pass = 2 * multiplied * meanLength;
  const models = hasValue ? 2 : 1;
  const generate = 2 * pass;
  const score = pass * models;
  const update = config.ppoEpochs * 2 * pass * models;
  const evaluate = generate * (1 + config.evalBestOf) + config.evalBestOf * pass * (1 + models);
  return (
    course.totalSteps * course.responsesPerStep * (generate + score + update) +
    course.evaluations * dataset.validation.length * evaluate
  );
}
