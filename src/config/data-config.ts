import { z } from 'zod';
import { parseConfig } from './parse-config.ts';

const count = z.int().min(1);
const name = z.string().min(1);

/** What a template replaces: `{column}` by its text, `{{` and `}}` by single braces. */
export const templatePlace = /\{\{|\}\}|\{([^{}]+)\}/g;

/** Where prompts are looked for, in this order. */
export const usualPromptColumns = [
  'prompt',
  'text',
  'question',
  'instruction',
  'messages',
  'query',
  'post',
] as const;

/** How rows of data become prompts. */
const promptOptionsShape = {
  split: name.default('train').describe('Split of a hub dataset'),
  promptColumn: name
    .optional()
    .describe(
      `Column with the prompts; the first of ${usualPromptColumns.join(', ')} if not given`,
    ),
  template: name
    .optional()
    .describe('Text of a prompt with {column} where the text of a column goes'),
  chat: z
    .boolean()
    .default(false)
    .describe("Make each prompt a user's message in the model's chat template"),
  systemPrompt: name.optional().describe("System message of chats that don't have one"),
  maxPromptTokens: count
    .optional()
    .describe('Longest prompt, in tokens; as many as the model takes if not given'),
  maxPrompts: count.optional().describe('Prompts that are taken from a source; all if not given'),
  validationFile: name
    .optional()
    .describe('Prompts to validate on: a file, or the id of a hub dataset'),
  validationSplit: name.optional().describe('Split of a hub dataset to validate on'),
  validationFraction: z
    .number()
    .min(0)
    .lt(1)
    .default(0.1)
    .describe('Part of the prompts to validate on, if no file or split is given'),
};

/** Where prompts come from and what is done to them. */
export const dataConfigShape = {
  prompts: name.describe('Prompts: a file, or the id of a hub dataset such as owner/name'),
  ...promptOptionsShape,
};

const promptOptionsSchema = z.strictObject(promptOptionsShape).superRefine(refine);

export const dataConfigSchema = z.strictObject(dataConfigShape).superRefine(refine);

/** How rows become prompts, as a user gives it: everything has a default. */
export type PromptOptions = z.input<typeof promptOptionsSchema>;

export type ResolvedPromptOptions = Readonly<z.output<typeof promptOptionsSchema>>;

/** What a user may give: everything but the prompts has a default. */
export type DataConfigOptions = z.input<typeof dataConfigSchema>;

/** A run's data with every default filled in. */
export type DataConfig = Readonly<z.output<typeof dataConfigSchema>>;

/** Checks how rows become prompts and fills in the defaults. */
export function resolvePromptOptions(options: PromptOptions = {}): ResolvedPromptOptions {
  return parseConfig(promptOptionsSchema, options, { name: 'the prompt options' });
}

/** Checks a run's data and fills in the defaults.
 *  @example { prompts: 'prompts.jsonl' }  →  a tenth of them to validate on */
export function resolveDataConfig(options: DataConfigOptions): DataConfig {
  return parseConfig(dataConfigSchema, options, { name: 'the data config' });
}

/** The first pair of values that cannot go together. */
export function findDataContradiction(config: ResolvedPromptOptions): string | undefined {
  const { template, promptColumn } = config;
  if (template === undefined) return undefined;
  if (promptColumn !== undefined) {
    return `promptColumn must not be given beside template, which names its columns, got "${promptColumn}"`;
  }
  return [...template.matchAll(templatePlace)].some(([, column]) => column !== undefined)
    ? undefined
    : `template must have a {column}, else all prompts are the same, got ${JSON.stringify(template)}`;
}

function refine(config: ResolvedPromptOptions, context: z.RefinementCtx): void {
  const message = findDataContradiction(config);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
}
