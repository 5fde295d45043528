import { shellQuote, shortPath } from '../../fs/index.ts';
import type { LabelTaskKind, NextStep } from '../api.ts';
import type { QueueHeader } from './queue-schema.ts';

/** What labellers are asked if a queue has no question of its own. */
export const questions: Readonly<Record<LabelTaskKind, string>> = {
  pair: 'Which response is better?',
  rating: 'How good is the response?',
  ranking: 'Which responses are better? Rank them, the best first.',
};

export interface NextStepsOptions {
  /** Id of the queue. */
  readonly id: string;
  /** Folder of the queues. */
  readonly labels: string;
  /** How to call the program, such as `npx proximal`. */
  readonly program: string;
}

/** The commands that use the answers of a queue: the result of a comparison, or the training of a reward
 *  model and then of a policy. */
export function nextSteps(header: QueueHeader, options: NextStepsOptions): NextStep[] {
  const { id, labels, program } = options;
  const shell = (...args: readonly string[]) => [program, ...args.map(shellQuote)].join(' ');
  const folder = shortPath(labels) === 'labels' ? [] : ['--labels', shortPath(labels)];
  if (header.compare !== undefined) {
    return [
      { title: 'See the result', command: shell('labels', 'results', id, ...folder) },
      { title: 'Share it', command: shell('report', shortPath(header.compare.run)) },
    ];
  }
  const data = `${id}.jsonl`;
  const reward = `runs/${id}-reward`;
  const { training: { model, prompts, config } = {} } = header;
  const base = model === undefined ? [] : ['--model', shortPath(model)];
  const scale = header.kind === 'rating' ? ['--rating-min', '1', '--rating-max', '5'] : [];
  const course =
    config !== undefined
      ? ['--config', shortPath(config)]
      : [...base, ...(prompts === undefined ? [] : ['--prompts', shortPath(prompts)])];
  const output = ['--output', `runs/${id}-ppo`];
  return [
    {
      title: 'Export the answers',
      command: shell('labels', 'export', id, '--output', data, ...folder),
    },
    {
      title: 'Train a reward model on them',
      command: shell('reward', ...base, '--data', data, ...scale, '--output', reward),
    },
    {
      title: 'Train a policy with it',
      command: shell('train', ...course, '--reward', `model:${reward}`, ...output),
    },
  ];
}
