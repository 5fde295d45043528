import { z } from 'zod';
import type { LabelChoice } from '../api.ts';

/** Kinds of tasks. */
export const labelKinds = ['pair', 'rating', 'ranking'] as const;

/** What a queue that compares a run's policy with another model compares. */
const comparisonSchema = z.object({
  /** Folder of the run. */
  run: z.string(),
  /** Step of its policy. */
  step: z.int(),
  /** The other model: `reference`, or the name of another run. */
  against: z.string(),
  /** Number of compared prompts; those with equal responses have no task. */
  prompts: z.int(),
  equal: z.int(),
});

export type Comparison = Readonly<z.output<typeof comparisonSchema>>;

/** `queue.json` */
export const queueHeaderSchema = z.object({
  name: z.string(),
  kind: z.enum(labelKinds),
  /** What labellers are asked; a question that fits the kind if missing. */
  question: z.string().optional(),
  /** Only in queues of human evaluation. */
  compare: comparisonSchema.optional(),
  /** How to train on the answers, if known: the model whose responses are labelled, and a file with
   *  prompts or the config of a run. */
  training: z
    .object({
      model: z.string().optional(),
      prompts: z.string().optional(),
      config: z.string().optional(),
    })
    .optional(),
  /** As requested. */
  source: z.looseObject({ from: z.string() }),
  createdAt: z.iso.datetime(),
});

export type QueueHeader = Readonly<z.output<typeof queueHeaderSchema>>;

const storedResponseSchema = z.object({
  text: z.string(),
  /** Its origin, such as the step and sample of a run; labellers never see it. */
  from: z.record(z.string(), z.union([z.string(), z.number()])),
});

export type StoredResponse = Readonly<z.output<typeof storedResponseSchema>>;

/** A line of `tasks.jsonl`. */
export const storedTaskSchema = z.object({
  id: z.string().min(1),
  prompt: z.string(),
  responses: z.array(storedResponseSchema).min(1),
});

export type StoredTask = Readonly<z.output<typeof storedTaskSchema>>;

const index = z.int().min(0);

const storedChoiceSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('pair'), choice: z.literal([0, 1, 'tie', 'both-bad']) }),
  z.object({ kind: z.literal('rating'), rating: z.int().min(1).max(5) }),
  z.object({ kind: z.literal('ranking'), order: z.array(index) }),
]);

const storedAnswerSchema = z.object({
  task: z.string(),
  labeller: z.string(),
  /** Indices refer to the task's `responses`. */
  answer: storedChoiceSchema,
  note: z.string().optional(),
  time: z.string(),
  /** The order in which the responses were shown. */
  order: z.array(index),
});

export type StoredAnswer = Readonly<z.output<typeof storedAnswerSchema>>;

/** Removes the labeller's answer to a task. */
const undoSchema = z.object({ undo: z.string(), labeller: z.string(), time: z.string() });

/** A line of `answers.jsonl`. */
export const answerRowSchema = z.union([storedAnswerSchema, undoSchema]);

export type AnswerRow = Readonly<z.output<typeof answerRowSchema>>;

/** A row as `proximal reward` reads it; undefined if nothing is preferred because both are bad.
 *  @example pair A, B: choice 1  →  { prompt, chosen: B, rejected: A }
 *  @example a tie  →  { prompt, chosen: A, rejected: B, label: 'tie' }
 *  @example ranking [2, 0, 1]  →  { prompt, completions: [A, B, C], ranking: [2, 0, 1] } */
export function exportRow(
  { prompt, responses }: Pick<StoredTask, 'prompt' | 'responses'>,
  answer: LabelChoice,
): object | undefined {
  const texts = responses.map(({ text }) => text);
  const [first, second] = texts;
  if (answer.kind === 'rating') return { prompt, completion: first, rating: answer.rating };
  if (answer.kind === 'ranking') return { prompt, completions: texts, ranking: answer.order };
  switch (answer.choice) {
    case 'both-bad':
      return undefined;
    case 'tie':
      return { prompt, chosen: first, rejected: second, label: 'tie' };
    case 0:
      return { prompt, chosen: first, rejected: second };
    case 1:
      return { prompt, chosen: second, rejected: first };
  }
}

/** Rows as JSON Lines. */
export function toJsonLines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}
