import { z } from 'zod';
import type { LabelAnswer, NewQueue } from '../api.ts';
import { Refusal } from '../server/http/request-error.ts';
import { labelKinds } from './queue-schema.ts';

/** Most responses of a ranking: a key of the keyboard for each. */
export const mostResponses = 9;

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

/** Text on one line, of so many characters. */
function line(name: string, most: number) {
  const wanted = rule(name, `text of 1 to ${most} characters without control characters`);
  return z
    .string(wanted)
    .transform((text) => text.normalize('NFC').trim())
    .refine((text) => {
      const { length } = [...text];
      return length >= 1 && length <= most && !controlCharacter.test(text);
    }, wanted);
}

function path(name: string) {
  const wanted = rule(name, 'a path without control characters');
  return z
    .string(wanted)
    .refine((text) => text !== '' && text.length <= 1000 && !controlCharacter.test(text), wanted);
}

function whole(name: string, { least, most }: { readonly least: number; readonly most: number }) {
  const wanted = rule(name, `a whole number from ${least} to ${most}`);
  return z
    .number(wanted)
    .refine((value) => Number.isInteger(value) && value >= least && value <= most, wanted);
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
          rating: whole('rating', { least: 1, most: 5 }),
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
    source: z.discriminatedUnion(
      'from',
      [
        z.strictObject({
          from: z.literal('samples'),
          run: path('run'),
          fromStep: whole('fromStep', { least: 0, most: 1e9 }).optional(),
        }),
        z.strictObject({
          from: z.literal('generate'),
          model: path('model'),
          prompts: path('prompts'),
          maxNewTokens: whole('maxNewTokens', { least: 1, most: 4096 }).optional(),
        }),
        z.strictObject({ from: z.literal('file'), file: path('file') }),
      ],
      rule('source', 'an object that is from samples, generate or file'),
    ),
    responses: whole('responses', { least: 1, most: mostResponses }).optional(),
    limit: whole('limit', { least: 1, most: 100_000 }).optional(),
  },
  rule('it', 'an object'),
);

/** A labeller's name, without spaces around it. */
export function parseLabeller(name: unknown, action: string): string {
  return parse(labellerSchema, name, action);
}

export function parseAnswer(answer: unknown): LabelAnswer {
  return parse(answerSchema, answer, 'keep the answer') as LabelAnswer;
}

export function parseNewQueue(queue: unknown): NewQueue {
  return parse(newQueueSchema, queue, 'create the queue') as NewQueue;
}

function parse<S extends z.ZodType>(schema: S, value: unknown, action: string): z.output<S> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues as [z.core.$ZodIssue];
  const fault = issue.code === 'unrecognized_keys' ? `it has no "${issue.keys[0]}"` : issue.message;
  throw new Refusal(400, `Cannot ${action}: ${fault}`);
}
