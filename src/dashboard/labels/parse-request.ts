import { z } from 'zod';
import type { LabelAnswer, NewQueue } from '../api.ts';
import { RequestError } from '../server/http/request-error.ts';
import { labelKinds } from './queue-schema.ts';

/** Maximum number of responses of a ranking: one per digit key. */
export const maxResponses = 9;

const controlCharacter = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;

function show(value: unknown): string {
  const text = value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value));
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function rule(name: string, wanted: string) {
  return {
    error: ({ input }: { readonly input?: unknown }) =>
      `${name} must be ${wanted}, got ${show(input)}`,
  };
}

/** Text on one line of at most `max` characters. */
function line(name: string, max: number) {
  const wanted = rule(name, `text of 1 to ${max} characters without control characters`);
  return z
    .string(wanted)
    .transform((text) => text.normalize('NFC').trim())
    .refine((text) => {
      const { length } = [...text];
      return length >= 1 && length <= max && !controlCharacter.test(text);
    }, wanted);
}

function path(name: string) {
  const wanted = rule(name, 'a path without control characters');
  return z
    .string(wanted)
    .refine((text) => text !== '' && text.length <= 1000 && !controlCharacter.test(text), wanted);
}

function integer(name: string, { min, max }: { readonly min: number; readonly max: number }) {
  const wanted = rule(name, `a whole number from ${min} to ${max}`);
  return z
    .number(wanted)
    .refine((value) => Number.isInteger(value) && value >= min && value <= max, wanted);
}

const labellerSchema = line('the labeller', 40);

const kindNames = 'pair, rating or ranking';
const orderRule = rule('order', 'a list of places');
const pairRule = rule('choice', '0, 1, "tie" or "both-bad"');

const answerSchema = z.strictObject(
  {
    task: z.string(rule('task', 'the id of a task')),
    labeller: labellerSchema,
    answer: z.discriminatedUnion(
      'kind',
      [
        z.strictObject({
          kind: z.literal('pair'),
          choice: z.literal([0, 1, 'tie', 'both-bad'], pairRule),
        }),
        z.strictObject({
          kind: z.literal('rating'),
          rating: integer('rating', { min: 1, max: 5 }),
        }),
        z.strictObject({
          kind: z.literal('ranking'),
          order: z.array(z.number(orderRule), orderRule),
        }),
      ],
      rule('answer', `an object whose kind is ${kindNames}`),
    ),
    note: z
      .string(rule('note', 'text'))
      .max(2000, {
        error: ({ input }) => `note must have at most 2000 characters, got ${String(input).length}`,
      })
      .optional(),
  },
  rule('it', 'an object'),
);

const newQueueSchema = z.strictObject(
  {
    name: line('name', 80),
    kind: z.enum(labelKinds, rule('kind', kindNames)),
    question: line('question', 200).optional(),
    source: z.discriminatedUnion(
      'from',
      [
        z.strictObject({
          from: z.literal('compare'),
          run: path('run'),
          against: path('against').optional(),
          prompts: path('prompts').optional(),
        }),
        z.strictObject({
          from: z.literal('samples'),
          run: path('run'),
          fromStep: integer('fromStep', { min: 0, max: 1e9 }).optional(),
        }),
        z.strictObject({
          from: z.literal('generate'),
          model: path('model'),
          prompts: path('prompts'),
          maxNewTokens: integer('maxNewTokens', { min: 1, max: 4096 }).optional(),
        }),
        z.strictObject({ from: z.literal('file'), file: path('file') }),
      ],
      rule('source', 'an object whose from is compare, samples, generate or file'),
    ),
    responses: integer('responses', { min: 1, max: maxResponses }).optional(),
    limit: integer('limit', { min: 1, max: 100_000 }).optional(),
  },
  rule('it', 'an object'),
);

/** A labeller's name, trimmed. */
export function parseLabeller(name: unknown, action: string): string {
  return parse(labellerSchema, name, action);
}

export function parseAnswer(answer: unknown): LabelAnswer {
  return parse(answerSchema, answer, 'save the answer') as LabelAnswer;
}

export function parseNewQueue(queue: unknown): NewQueue {
  return parse(newQueueSchema, queue, 'create the queue') as NewQueue;
}

function parse<S extends z.ZodType>(schema: S, value: unknown, action: string): z.output<S> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues as [z.core.$ZodIssue];
  const fault = issue.code === 'unrecognized_keys' ? `it has no "${issue.keys[0]}"` : issue.message;
  throw new RequestError(400, `Cannot ${action}: ${fault}`);
}
