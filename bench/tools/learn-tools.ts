import type { PPOConfigOptions } from '../../src/config/ppo-config.ts';
import type { PromptRecord } from '../../src/data/index.ts';
import type { Episode } from '../../src/environments/index.ts';
import type { LoadedModel } from '../../src/models/index.ts';
import { PPOTrainer } from '../../src/ppo-trainer/index.ts';
import { SFTTrainer } from '../../src/stages/index.ts';
import { round } from '../measure.ts';
import { environment, makeProblems, makeTraces, toPrompt } from './arithmetic.ts';
import { makeCalculatorModel } from './calculator-model.ts';

/** Results of one run on held-out problems. */
export interface LearnedTools {
  readonly algorithm: Algorithm;
  /** Share of exact answers of sampled episodes before training, and after it. */
  readonly before: number;
  readonly after: number;
  /** Share of tool calls without an error after training. */
  readonly valid_calls: number;
}

export type Algorithm = 'ppo' | 'grpo';

export const ALGORITHMS: readonly Algorithm[] = ['ppo', 'grpo'];

const SFT_STEPS = 450;
const SFT_PROBLEMS = 2048;
const RL_STEPS = 60;
const HELD_OUT = 64;

const shared: PPOConfigOptions = {
  maxNewTokens: 24,
  batchSize: 16,
  samplesPerPrompt: 4,
  ppoEpochs: 2,
  learningRate: 2e-3,
  schedule: 'linear',
  klCoef: 0.01,
  gamma: 1,
  lam: 1,
  loraTargets: ['all-linear'],
};

const configs: Readonly<Record<Algorithm, PPOConfigOptions>> = {
  ppo: { ...shared, valueLearningRate: 5e-3 },
  grpo: { ...shared, advantageEstimator: 'grpo', klPlacement: 'loss', klEstimator: 'k3' },
};

/** Fine-tunes a fresh model on some traces, then trains it with a calculator. */
export async function learnTools(
  algorithm: Algorithm,
  { seed, onStep }: { readonly seed: number; readonly onStep?: (line: string) => void },
): Promise<LearnedTools> {
  const problems = makeProblems(seed);
  const model = makeCalculatorModel(seed);
  await fineTune(model, { seed, problems: problems.splice(0, SFT_PROBLEMS) });
  const heldOut = problems.splice(0, HELD_OUT).map((problem) => toPrompt(model, problem));
  const training = problems.slice(0, 16 * RL_STEPS).map((problem) => toPrompt(model, problem));
  const episodes: Episode[] = [];
  const exact = ({ response, row, episode }: Sample) => {
    if (episode) episodes.push(episode);
    return Number(response === row?.answer);
  };
  const trainer = new PPOTrainer(
    { ...configs[algorithm], seed },
    { model, environment, rewards: { exact } },
  );
  const before = await measure(trainer, heldOut, episodes);
  onStep?.(`before: ${before.rate}, valid calls ${before.validCalls}`);
  await trainer.train(training, {
    numEpochs: 1,
    evalInterval: 0,
    onEvent: (event) => {
      if (event.type === 'step')
        onStep?.(`step ${event.step}: ${event.metrics['objective/scores']}`);
    },
  });
  const after = await measure(trainer, heldOut, episodes);
  await trainer.dispose();
  await model.base.dispose();
  return { algorithm, before: before.rate, after: after.rate, valid_calls: after.validCalls };
}

interface Sample {
  readonly response: string;
  readonly row?: Readonly<Record<string, unknown>> | undefined;
  readonly episode?: Episode | undefined;
}

async function fineTune(
  model: LoadedModel,
  { seed, problems }: { seed: number; problems: ReturnType<typeof makeProblems> },
): Promise<void> {
  const batchSize = 32;
  const epochs = Math.ceil((SFT_STEPS * batchSize) / problems.length);
  const sft = new SFTTrainer(
    {
      seed,
      fullParameters: true,
      learningRate: 3e-3,
      schedule: 'linear',
      batchSize,
      numEpochs: epochs,
      maxSteps: SFT_STEPS,
      evalInterval: 0,
    },
    { model },
  );
  await sft.train(makeTraces(model, problems));
}

/** Samples an episode per problem. */
async function measure(
  trainer: PPOTrainer,
  prompts: readonly PromptRecord[],
  episodes: Episode[],
): Promise<{ rate: number; validCalls: number }> {
  episodes.length = 0;
  const { performance } = await trainer.evaluate(prompts, { evalBestOf: 4 });
  const calls = episodes.flatMap(({ turns }) => turns.flatMap((turn) => turn.calls));
  const valid = calls.filter(({ error }) => error === undefined).length;
  return { rate: round(performance.reward), validCalls: round(valid / Math.max(1, calls.length)) };
}
