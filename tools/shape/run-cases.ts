/** Tiny seeded runs of the CLI, the same in every checkout. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files that every case of one comparison reads. */
export interface CaseInputs {
  readonly model: string;
  readonly prompts: string;
  readonly validation: string;
  readonly completions: string;
  readonly preferences: string;
}

export interface RunCase {
  readonly name: string;
  /** Earlier cases whose runs it reads. */
  readonly needs?: readonly string[];
  /** @param outputOf folder of an earlier case's run */
  readonly args: (inputs: CaseInputs, outputOf: (name: string) => string) => string[];
}

const TRAINING_ROWS = 8;
const VALIDATION_ROWS = 3;

const ppo = ({ model, prompts, validation }: CaseInputs, ...flags: string[]): string[] => [
  ...['train', '--model', model, '--prompts', prompts, '--validation-file', validation],
  ...['--max-new-tokens', '12', '--max-steps', '3', '--batch-size', '4', '--ppo-epochs', '2'],
  ...['--eval-interval', '2', '--save-interval', '0', '--seed', '7'],
  ...['--learning-rate', '0.001', '--value-learning-rate', '0.001'],
  ...flags,
];

const stage = (command: string, { model }: CaseInputs, ...flags: string[]): string[] => [
  ...[command, '--model', model, '--max-steps', '3', '--batch-size', '4', '--seed', '7'],
  ...['--eval-interval', '1', '--save-interval', '0', '--validation-fraction', '0.25', ...flags],
];

const brevity = ['--reward', 'brevity:target=6'];

/** Every combination of precision, responses per prompt, minibatches and estimator. GRPO compares
 *  the responses to one prompt, so it has no case with a single one. */
const ppoCases: RunCase[] = ['gae', 'grpo'].flatMap((estimator) =>
  (estimator === 'gae' ? ['1', '4'] : ['4']).flatMap((samples) =>
    ['f32', 'int8'].flatMap((precision) =>
      [undefined, '2'].map((miniBatch) => ({
        name: `ppo ${estimator} ${precision}, ${samples} per prompt, minibatch ${miniBatch ?? 'unset'}`,
        args: (inputs) => [
          ...ppo(inputs, ...brevity, '--advantage-estimator', estimator),
          ...['--samples-per-prompt', samples, '--rollout-precision', precision],
          ...(miniBatch === undefined ? [] : ['--mini-batch-size', miniBatch]),
        ],
      })),
    ),
  ),
);

/** Options that take other paths through rewards, advantages and losses. */
const optionCases: RunCase[] = [
  {
    name: 'ppo with whitened rewards, adaptive KL, clipped values',
    args: (inputs) => [
      ...ppo(inputs, ...brevity, '--whiten-rewards', '--kl-controller', 'adaptive'),
      ...['--value-loss', 'clipped', '--reward-placement', 'after-final', '--top-p', '0.9'],
      ...['--score-normalization', 'running', '--schedule', 'linear', '--target-kl', '0.2'],
    ],
  },
  {
    name: 'ppo with KL in the loss, sequence ratios, entropy bonus',
    args: (inputs) => [
      ...ppo(inputs, ...brevity, '--kl-placement', 'loss', '--kl-estimator', 'k3'),
      ...['--ratio-level', 'sequence', '--entropy-coef', '0.01', '--micro-batch-size', '2'],
      ...['--advantage-estimator', 'rloo', '--samples-per-prompt', '2', '--schedule', 'cosine'],
    ],
  },
];

const stageCases: RunCase[] = [
  {
    name: 'sft, adapter',
    args: (inputs) => stage('sft', inputs, '--data', inputs.completions),
  },
  {
    name: 'sft, all weights',
    args: (inputs) => stage('sft', inputs, '--data', inputs.completions, '--full-parameters'),
  },
  {
    name: 'reward model',
    args: (inputs) => stage('reward', inputs, '--data', inputs.preferences),
  },
  {
    name: 'ppo on the reward model, from the SFT adapter',
    needs: ['reward model', 'sft, adapter'],
    args: (inputs, outputOf) => [
      ...ppo(inputs, '--reward', `model:${outputOf('reward model')}`, '--value-init', 'reward'),
      ...['--adapter', join(outputOf('sft, adapter'), 'model')],
    ],
  },
];

const runCases: readonly RunCase[] = [...ppoCases, ...optionCases, ...stageCases];

/** Cases whose name contains a text, after those that they need. */
export function chooseCases(text: string): RunCase[] {
  const chosen = runCases.filter(({ name }) => name.includes(text));
  const needed = new Set(chosen.flatMap(({ name, needs = [] }) => [name, ...needs]));
  return runCases.filter(({ name }) => needed.has(name));
}

/** Writes the data of all cases, taken from the preferences next to a model. */
export function writeInputs(folder: string, model: string): CaseInputs {
  const rows = readFileSync(join(model, 'preferences.jsonl'), 'utf8')
    .split('\n')
    .slice(0, TRAINING_ROWS + VALIDATION_ROWS)
    .map((line) => JSON.parse(line) as { prompt: string; chosen: string; rejected: string });
  mkdirSync(folder, { recursive: true });
  const write = (name: string, lines: readonly object[]) => {
    const path = join(folder, name);
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return path;
  };
  const prompts = rows.map(({ prompt }) => ({ prompt }));
  return {
    model,
    prompts: write('prompts.jsonl', prompts.slice(0, TRAINING_ROWS)),
    validation: write('validation.jsonl', prompts.slice(TRAINING_ROWS)),
    completions: write(
      'completions.jsonl',
      rows.map(({ prompt, chosen }) => ({ prompt, completion: chosen })),
    ),
    preferences: write('preferences.jsonl', rows),
  };
}

/** Runs a command of a checkout's CLI from its sources. */
export function runCli(tree: string, args: readonly string[]): void {
  const command = ['--import', 'tsx', 'src/cli/main.ts', ...args];
  const { status, stderr, stdout } = spawnSync(process.execPath, command, {
    cwd: tree,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status === 0) return;
  throw new Error(
    `Cannot run "proximal ${args.join(' ')}" in ${tree}: exit code ${status}\n${stdout}${stderr}`,
  );
}
