import { type Learned, type LearnOptions, learn } from './learning/learn.ts';
import { type Bounds, type Task, tasks } from './learning/tasks.ts';

interface TaskResult {
  readonly reward: string;
  readonly steps: number;
  readonly bounds: Bounds;
  readonly seeds: readonly Learned[];
}

export interface LearningResult {
  readonly tasks: readonly TaskResult[];
  /** The same tasks with β = 0: shows what the KL penalty prevents. */
  readonly without_kl: readonly ({ readonly reward: string } & Learned)[];
}

/** Seeds per task. */
export const SEEDS = [0, 1, 2, 3, 4];

/** Checks that PPO learns: every task with five seeds, and once without the KL penalty. */
export async function benchLearning(): Promise<LearningResult> {
  const results: TaskResult[] = [];
  const withoutKl: ({ reward: string } & Learned)[] = [];
  for (const task of tasks) {
    const { name: reward, steps, bounds } = task;
    const seeds: Learned[] = [];
    for (const seed of SEEDS) seeds.push(await learnWithProgress(task, { seed }));
    results.push({ reward, steps, bounds, seeds });
    withoutKl.push({ reward, ...(await learnWithProgress(task, { seed: SEEDS[0]!, klCoef: 0 })) });
  }
  return { tasks: results, without_kl: withoutKl };
}

interface Normalized {
  readonly reward: string;
  readonly normalization: 'none' | 'batch';
  /** β divided by the task's. */
  readonly beta_factor: number;
  readonly seeds: readonly Learned[];
}

/** Compares scores as they are with scores normalised per step. Dividing by a standard deviation below 1
 *  weakens the KL penalty, so normalised scores also run with larger β. */
export async function benchNormalization(): Promise<{ runs: readonly Normalized[] }> {
  const runs: Normalized[] = [];
  for (const task of tasks) {
    for (const [normalization, factor] of [
      ['none', 1],
      ['none', 0.5],
      ['batch', 1],
      ['batch', 4],
    ] as const) {
      const seeds: Learned[] = [];
      const klCoef = factor * task.config.klCoef!;
      for (const seed of SEEDS) {
        seeds.push(
          await learnWithProgress(task, { seed, klCoef, scoreNormalization: normalization }),
        );
      }
      runs.push({ reward: task.name, normalization, beta_factor: factor, seeds });
    }
  }
  return { runs };
}

/** Prints a run's progress to stderr. */
async function learnWithProgress(task: Task, options: LearnOptions): Promise<Learned> {
  const { seed, klCoef = task.config.klCoef, scoreNormalization = 'none' } = options;
  const title = `${task.name}, seed ${seed}, β = ${klCoef}, normalisation ${scoreNormalization}`;
  const start = performance.now();
  const learned = await learn(task, {
    ...options,
    onStep: (step, total) => {
      if (step % 20 === 0) console.error(`${title}: step ${step} of ${total}`);
    },
  });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const { before, after, kl, explained_variance: explained } = learned;
  console.error(
    `${title}: ${before} → ${after}, KL ${kl}, explained variance ${explained}, in ${seconds} s`,
  );
  return learned;
}

/** The result as a table: one row per run, with the bounds it must meet. */
export function learningTable({ tasks: results, without_kl: withoutKl }: LearningResult): string {
  const head = row(['reward', 'seed', 'before', 'after', 'KL', 'explained variance']);
  const blocks = results.map(({ reward, bounds, seeds }) => [
    ...seeds.map((learned, i) => learnedRow([reward, String(SEEDS[i])], learned)),
    ...withoutKl
      .filter((learned) => learned.reward === reward)
      .map((learned) => learnedRow([reward, 'β = 0'], learned)),
    row(['', 'bound', '', `+${bounds.margin}`, `< ${bounds.kl}`, `> ${bounds.explainedVariance}`]),
  ]);
  return [head, ...blocks.flatMap((block) => ['', ...block])].join('\n');
}

function learnedRow(about: readonly string[], learned: Learned): string {
  const { before, after, kl, explained_variance: explained } = learned;
  return row([...about, before.toFixed(3), after.toFixed(3), kl.toFixed(2), explained.toFixed(3)]);
}

const widths = [16, 7, 8, 8, 8, 20];

function row(cells: readonly string[]): string {
  return cells
    .map((cell, i) => cell.padEnd(widths[i]!))
    .join('')
    .trimEnd();
}
