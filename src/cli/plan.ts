import { resolve } from 'node:path';
import { LoraAdapter } from '../base-setup/index.ts';
import { firstAdaptedLayer, toLoraConfig } from '../base-setup/lora/lora-config.ts';
import type { LoraFields } from '../config/lora-config.ts';
import { presets } from '../config/ppo-config.ts';
import { formatRewardSpec, splitRewardSpec } from '../config/reward-spec.ts';
import type { AnyRunConfig } from '../config/run-config.ts';
import type { StageConfig } from '../config/stage-config.ts';
import { PromptOrder } from '../data/index.ts';
import { input, linear, makeGraph } from '../engine/graph/index.ts';
import { compile, tensor } from '../engine/runtime/index.ts';
import type { FoundCheckpoint } from '../loop/checkpoint-store.ts';
import { checkLoopState, type ResumedTraining } from '../loop/loop-state.ts';
import { readLoopState } from '../loop/loop-state-files.ts';
import { countSteps, type LoopConfig } from '../loop/train-loop.ts';
import type { ModelHeader } from '../models/decoder/load-model.ts';
import { countParameters, type ParameterCounts } from '../models/decoder/parameter-counts.ts';
import { holdBase } from '../models/decoder/quantize-base.ts';
import { expectLogRows } from '../run/log-rows.ts';
import { compareInputs, modelInputs, type RunInput } from '../run/run-inputs.ts';
import type { RunSources } from '../run/run-sources.ts';
import { estimateStageBytes } from '../training/memory-estimate.ts';
import { formatBytes, formatCount, formatSeconds, formatWhole, shortPath } from './format.ts';
import { readHeaderWithProgress } from './load-model.ts';
import { formatTable } from './table.ts';
import { formatSections, indentedText, lineWidth, type Output } from './terminal.ts';

/** What a run would do, use and take. */
export interface RunPlan
  extends RunSchedule,
    Omit<PlannedWork, 'flops' | 'canEvaluate' | 'inputs' | 'identity' | 'open'> {
  readonly model: string;
  readonly family: string;
  /** Of the base model. */
  readonly parameters: number;
  readonly output: string | undefined;
  /** The step that the run resumes after. */
  readonly resumesAfter?: number;
  /** Floating-point operations per second of a matrix product, measured on this machine. */
  readonly matmulFlops: number;
  /** At that speed. */
  readonly seconds: number;
}

/** How many steps and evaluations a run has. */
export interface RunSchedule {
  readonly stepsPerEpoch: number;
  readonly totalSteps: number;
  readonly evaluations: number;
}

/** What one kind of run contributes to its plan. */
export interface PlannedWork {
  /** What the run trains on. */
  readonly unit: 'prompts' | 'texts' | 'pairs' | 'ratings';
  readonly train: number;
  readonly validation: number;
  readonly warnings: readonly string[];
  /** Trained parameters by model, such as policy and value. */
  readonly trainable: Readonly<Record<string, number>>;
  /** PPO only. */
  readonly rewards?: readonly string[];
  /** The preset's name and the run's value of every setting that the preset has. */
  readonly preset?: { readonly name: string; readonly settings: Readonly<Record<string, unknown>> };
  readonly responsesPerStep?: number;
  readonly optimizerStepsPerStep?: number;
  /** Tokens of the longest text or pair. */
  readonly longest: number;
  /** Bytes of the process in each phase. */
  readonly memory: Readonly<Partial<Record<'generation', number>> & { training: number }>;
  /** How the run fits into its memory limit. */
  readonly memoryPlan?: string | undefined;
  /** False if evaluations are impossible although there is validation data. */
  readonly canEvaluate?: boolean;
  /** Everything it reads, besides the base and the tokenizer. */
  readonly inputs: readonly RunInput[];
  /** Everything that must be unchanged to resume exactly. */
  readonly identity: object;
  /** Opens what may execute code, after the inputs of a resumed run have been compared. Returns
   *  warnings. */
  open?(): Promise<readonly string[]>;
  /** Floating-point operations of the whole run. */
  flops(schedule: RunSchedule): number;
}

/** What a plan knows about the model, from its config and the headers of its weights. */
export interface ModelContext extends ModelHeader {
  readonly counts: ParameterCounts;
}

/** A run that is resumed. */
export interface ResumedRun {
  readonly folder: string;
  /** Undefined if none was ever saved. */
  readonly checkpoint: FoundCheckpoint | undefined;
  readonly allowChanged: boolean;
  /** Whether its reward files may be executed although the user has not run them before. */
  readonly trust: boolean;
}

/** Plans a run from its config, the headers of its model and its data. Rejects what the run would
 *  reject. */
export async function planRun(
  config: AnyRunConfig & LoopConfig,
  planWork: (model: ModelContext) => Promise<PlannedWork>,
  resumed?: ResumedRun,
): Promise<RunPlan> {
  const { modelName, output } = config;
  const header = await readHeaderWithProgress(config);
  const { architecture } = header.base;
  const counts = countParameters(architecture);
  const planned = await planWork({ ...header, counts });
  const { flops, canEvaluate = true, inputs, identity, open, ...work } = planned;
  const schedule = planSchedule(config, { ...work, canEvaluate });
  const { totalSteps } = schedule;
  const notes =
    resumed === undefined
      ? []
      : await checkResumed(resumed, {
          inputs: [...(await modelInputs(header)), ...inputs],
          training: { identity, totalSteps, schedule: config.schedule },
        });
  const opened = (await open?.()) ?? [];
  const resumesAfter = resumed && (resumed.checkpoint?.step ?? 0);
  const left = (totalSteps - (resumesAfter ?? 0)) / totalSteps;
  const matmulFlops = await measureMatmul();
  return {
    model: modelName,
    family: architecture.config.model_type,
    parameters: counts.total,
    output: output === undefined ? undefined : resolve(output),
    ...(resumesAfter !== undefined && { resumesAfter }),
    ...work,
    warnings: [...notes, ...opened, ...work.warnings],
    ...schedule,
    matmulFlops,
    seconds: (left * flops(schedule)) / matmulFlops,
  };
}

/** Requires what the resumed run will require. Returns its warnings. */
async function checkResumed(
  { folder, checkpoint, allowChanged }: ResumedRun,
  { inputs, training }: { inputs: readonly RunInput[]; training: ResumedTraining },
): Promise<string[]> {
  if (checkpoint === undefined) return [];
  const lost = await expectLogRows(folder, checkpoint, { allowMissing: allowChanged });
  const changes = await compareInputs(folder, inputs, { resume: true, allowChanged });
  const notes = checkLoopState(await readLoopState(checkpoint.folder), training);
  return [...checkpoint.warnings, ...lost, ...changes, ...notes];
}

/** The adapter that a run trains: the initial one, or a new one. */
export function measureAdapter(
  settings: LoraFields,
  {
    model: { base },
    start,
  }: { readonly model: ModelHeader; readonly start?: RunSources<unknown>['start'] },
): AdapterSize {
  const { config, weights } =
    start?.adapter ??
    LoraAdapter.create(toLoraConfig(settings, base.architecture.config), base.modules());
  return {
    size: [...weights.values()].reduce((sum, { data }) => sum + data.length, 0),
    frozenLayers: firstAdaptedLayer(config),
  };
}

export interface AdapterSize {
  /** Number of weights. */
  readonly size: number;
  /** Number of layers below the first adapted one. */
  readonly frozenLayers: number;
}

function planSchedule(
  config: LoopConfig,
  { train, validation, canEvaluate }: Pick<PlannedWork, 'train' | 'validation' | 'canEvaluate'>,
): RunSchedule {
  const { seed, batchSize, shuffle, evalInterval } = config;
  const { stepsPerEpoch } = new PromptOrder({ seed, batchSize, shuffle, count: train });
  const totalSteps = countSteps(config, stepsPerEpoch);
  const between = evalInterval === 0 ? 0 : Math.ceil(totalSteps / evalInterval) - 1;
  // Before the first step, at intervals and after the last step.
  const evaluations = validation > 0 && canEvaluate ? between + 2 : 0;
  return { stepsPerEpoch, totalSteps, evaluations };
}

const PROBE_SIZE = 512;
/** Milliseconds that the probe runs for. */
const PROBE_DURATION = 300;

/** Measures the floating-point operations per second of a matrix product on this machine. */
async function measureMatmul(): Promise<number> {
  const shape = [PROBE_SIZE, PROBE_SIZE] as const;
  const graph = makeGraph({ y: linear(input('x', [...shape]), input('w', [...shape])) });
  const compiled = await compile(graph);
  const ones = () => tensor(new Float32Array(PROBE_SIZE ** 2).fill(1), [...shape]);
  const feeds = { x: ones(), w: ones() };
  try {
    await compiled.run(feeds);
    const start = performance.now();
    let runs = 0;
    for (; performance.now() - start < PROBE_DURATION; runs++) await compiled.run(feeds);
    return (2 * PROBE_SIZE ** 3 * runs * 1000) / (performance.now() - start);
  } finally {
    await compiled.dispose();
  }
}

/** The differences between SFT and reward training. */
export interface StageData extends Pick<PlannedWork, 'unit' | 'warnings' | 'inputs' | 'identity'> {
  /** Tokens of each text or pair. */
  readonly trainLengths: readonly number[];
  readonly validationLengths: readonly number[];
  /** Whether the base itself is trained instead of an adapter. */
  readonly isFull: boolean;
  /** The adapter that training starts from. */
  readonly start: RunSources<unknown>['start'];
  /** On top of the layers: the language-model head, or one score per text. */
  readonly head: 'language' | 'scalar';
}

/** The plan of SFT or reward training. */
export async function planStage(
  config: StageConfig,
  { model, data }: { readonly model: ModelContext; readonly data: StageData },
): Promise<PlannedWork> {
  const { unit, warnings, inputs, identity, start } = data;
  const { trainLengths, validationLengths, isFull, head } = data;
  const { counts } = model;
  const { architecture } = model.base;
  const headSize = head === 'scalar' ? architecture.config.hidden_size : 0;
  const adapter = isFull ? undefined : measureAdapter(config, { model, start });
  const trained = adapter === undefined ? counts.total : adapter.size + headSize;
  const longest = [...trainLengths, ...validationLengths].reduce((a, b) => Math.max(a, b), 0);
  const held = await holdBase(architecture, config.basePrecision);
  return {
    ...{ unit, warnings, longest, inputs, identity },
    train: trainLengths.length,
    validation: validationLengths.length,
    trainable: { [isFull ? 'model' : head === 'scalar' ? 'adapter and head' : 'adapter']: trained },
    memory: {
      training: estimateStageBytes(architecture, { config, trained, longest, isFull, head, held }),
    },
    flops: (schedule) => stageFlops(config, { counts, data, schedule, adapter }),
  };
}

/** Per token and parameter 2 operations forward, 2 backward to the inputs of layers above the frozen
 *  ones, and 2 more if the parameter itself is trained. */
function stageFlops(
  config: StageConfig,
  work: {
    counts: ParameterCounts;
    data: StageData;
    schedule: RunSchedule;
    adapter: AdapterSize | undefined;
  },
): number {
  const { counts, data, schedule, adapter } = work;
  const { trainLengths, validationLengths, isFull, head } = data;
  const layers = counts.total - counts.embedding - counts.head;
  const multiplied = layers + (head === 'scalar' ? 0 : counts.head || counts.embedding);
  const sum = (lengths: readonly number[]) => lengths.reduce((all, length) => all + length, 0);
  const mean = sum(trainLengths) / trainLengths.length;
  const trained = schedule.totalSteps * Math.min(config.batchSize, trainLengths.length) * mean;
  const evaluated = schedule.evaluations * sum(validationLengths);
  const frozen = (adapter?.frozenLayers ?? 0) * counts.perLayer;
  return multiplied * (trained * (isFull ? 6 : 4) + evaluated * 2) - frozen * trained * 2;
}

/** Formats a plan for people.
 *  @param options.prefix of the default run folder */
export function formatPlan(
  plan: RunPlan,
  { prefix, output }: { readonly prefix: string; readonly output: Output },
): string {
  const width = lineWidth(output);
  const sections = formatSections(
    [
      [`Model ${shortPath(plan.model)}`, formatModel(plan)],
      ['Data', formatData(plan, { prefix, width })],
      ...(plan.preset ? [[`Preset ${plan.preset.name}`, formatPreset(plan.preset)] as const] : []),
      ['Schedule', formatSchedule(plan, width)],
      ['Estimates', formatEstimates(plan, width)],
    ],
    output,
  );
  return `${sections}\n\nNothing was trained. Leave out --dry-run to start.`;
}

function formatModel({ family, parameters, trainable }: RunPlan): string {
  const models = Object.entries(trainable);
  const total = models.reduce((sum, [, size]) => sum + size, 0);
  const share = `${((100 * total) / parameters).toFixed(2)} % of the base`;
  const isFull = total === parameters;
  return formatTable(
    [
      ['base', formatCount(parameters), isFull ? family : `${family}, frozen`],
      ...models.map(([name, size]) => [
        `trained: ${name}`,
        formatCount(size),
        models.length === 1 ? share : '',
      ]),
      ...(models.length === 1 ? [] : [['trained in total', formatCount(total), share]]),
    ],
    'lrl',
  );
}

function formatData(
  plan: RunPlan,
  { prefix, width }: { readonly prefix: string; readonly width: number },
): string {
  const { unit, train, validation, warnings, rewards, output } = plan;
  const rows = [
    [`training ${unit}`, formatWhole(train)],
    [`validation ${unit}`, validation === 0 ? 'none' : formatWhole(validation)],
    ...warnings.map((warning) => ['warning', warning]),
    ...(rewards === undefined ? [] : [['rewards', rewards.map(shortReward).join(', ')]]),
    ['run folder', output === undefined ? `runs/${prefix}-<time>` : shortPath(output)],
  ];
  return formatTable(rows, 'll', { width });
}

/** A reward with the path of its file or folder relative to the current folder if it is in it. */
function shortReward(reward: string): string {
  const spec = splitRewardSpec(reward);
  const isPath = ['file', 'human', 'model'].includes(spec.kind);
  return isPath ? formatRewardSpec({ ...spec, place: shortPath(spec.place) }) : reward;
}

/** The settings of a preset, with a note on those that the config overrides. */
function formatPreset({ name, settings }: NonNullable<RunPlan['preset']>): string {
  const own: Readonly<Record<string, unknown>> = presets[name as keyof typeof presets];
  return formatTable(
    Object.entries(settings).map(([key, value]) => [
      key,
      String(value),
      value === own[key] ? '' : `overrides ${own[key]}`,
    ]),
  );
}

function formatSchedule(plan: RunPlan, width: number): string {
  const { totalSteps, stepsPerEpoch, responsesPerStep, optimizerStepsPerStep } = plan;
  const perStep = (name: string, count: number | undefined) =>
    count === undefined
      ? []
      : [[name, formatWhole(totalSteps * count), `${formatWhole(count)} per step`]];
  const cannotEvaluate = plan.evaluations === 0 && plan.validation > 0;
  const { resumesAfter } = plan;
  return formatTable(
    [
      ['steps', formatWhole(totalSteps), `${formatWhole(stepsPerEpoch)} per epoch`],
      ...(resumesAfter === undefined ? [] : [describeResumed(resumesAfter, totalSteps)]),
      ...perStep('responses', responsesPerStep),
      ...perStep('optimiser steps', optimizerStepsPerStep),
      [
        'evaluations',
        formatWhole(plan.evaluations),
        cannotEvaluate ? 'people score training responses only, and there is no other reward' : '',
      ],
    ],
    'lrl',
    { width },
  );
}

function describeResumed(step: number, totalSteps: number): string[] {
  const left = totalSteps - step;
  const note = left > 0 ? `${formatWhole(left)} left` : 'none left; --max-steps extends the run';
  return ['done before', formatWhole(step), note];
}

function formatEstimates(plan: RunPlan, width: number): string {
  const { memory, memoryPlan, longest, unit, matmulFlops, seconds } = plan;
  const table = formatTable(
    [
      ...Object.entries(memory).map(([phase, bytes]) => [`memory in ${phase}`, formatBytes(bytes)]),
      ['time', `about ${formatSeconds(seconds)}`],
    ],
    'lr',
  );
  const item = unit === 'pairs' ? 'pair' : 'text';
  const sentences = [
    ...(memoryPlan === undefined ? [] : [`${memoryPlan}.`]),
    `Memory is for the whole process with the longest ${item}, ${formatWhole(longest)} tokens.`,
    `Time counts matrix products only, at the ${Math.round(matmulFlops / 1e9)} GFLOPS just measured here; small models take longer.`,
  ];
  return [table, ...sentences.map((sentence) => indentedText(sentence, width))].join('\n');
}
