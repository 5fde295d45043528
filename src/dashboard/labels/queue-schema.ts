import { z } from 'zod';

/** What a person is asked for, as the API names it. */
export const labelKinds = ['pair', 'rating', 'ranking'] as const;

/** `queue.json` */
export const queueHeaderSchema = z.object({
  name: z.string(),
  kind: z.enum(labelKinds),
  /** As it was asked for. */
  source: z.looseObject({ from: z.string() }),
  createdAt: z.iso.datetime(),
});

export type QueueHeader = Readonly<z.output<typeof queueHeaderSchema>>;

const storedResponseSchema = z.object({
  text: z.string(),
  /** Where it comes from, such as a run's step and sample; labellers never see it. */
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

const place = z.int().min(0);

const storedChoiceSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('pair'), choice: z.literal([0, 1, 'tie', 'both-bad']) }),
  z.object({ kind: z.literal('rating'), rating: z.int().min(1).max(5) }),
  z.object({ kind: z.literal('ranking'), order: z.array(place) }),
]);

const storedAnswerSchema = z.object({
  task: z.string(),
  labeller: z.string(),
  /** Places are those of the task's `responses`. */
  answer: storedChoiceSchema,
  note: z.string().optional(),
  time: z.string(),
  /** How the responses were shown: their places from first to last. */
  order: z.array(place),
});

export type StoredAnswer = Readonly<z.output<typeof storedAnswerSchema>>;

/** Takes back the labeller's answer to a task. */
const undoSchema = z.object({ undo: z.string(), labeller: z.string(), time: z.string() });

/** A line of `answers.jsonl`. */
export const answerRowSchema = z.union([storedAnswerSchema, undoSchema]);

export type AnswerRow = Readonly<z.output<typeof answerRowSchema>>;
