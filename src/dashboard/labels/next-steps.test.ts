import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { nextSteps } from './next-steps.ts';
import type { QueueHeader } from './queue-schema.ts';

const base = { name: 'Q', kind: 'pair', source: { from: 'file' }, createdAt: '' } as const;
const commands = (header: Partial<QueueHeader>, labels = 'labels') =>
  nextSteps({ ...base, ...header }, { id: 'q-1', labels, program: 'npx proximal' }).map(
    ({ command }) => command,
  );

test('nextSteps() of a file trains on it and on its prompts', () => {
  expect(commands({ kind: 'rating', training: { prompts: 'my data.jsonl' } })).toEqual([
    'npx proximal labels export q-1 --output q-1.jsonl',
    'npx proximal reward --data q-1.jsonl --rating-min 1 --rating-max 5 --output runs/q-1-reward',
    "npx proximal train --prompts 'my data.jsonl' --reward model:runs/q-1-reward --output runs/q-1-ppo",
  ]);
});

test("nextSteps() of a run's samples use its model and settings", () => {
  const training = { model: resolve('models/m'), config: resolve('runs/a/config.json') };
  expect(commands({ training }, 'other labels')).toEqual([
    "npx proximal labels export q-1 --output q-1.jsonl --labels 'other labels'",
    'npx proximal reward --model models/m --data q-1.jsonl --output runs/q-1-reward',
    'npx proximal train --config runs/a/config.json --reward model:runs/q-1-reward --output runs/q-1-ppo',
  ]);
});

test('nextSteps() of a comparison show and share the result', () => {
  const compare = { run: resolve('runs/a'), step: 3, against: 'reference', prompts: 4, equal: 0 };
  expect(commands({ compare }, resolve('labels'))).toEqual([
    'npx proximal labels results q-1',
    'npx proximal report runs/a',
  ]);
});
