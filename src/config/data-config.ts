import { z } from 'zod';
import { parseConfig } from './parse-config.ts';

const count = z.int().min(1);
const name = z.string().min(1);

/** Variables of the chat template as JSON. */
const chatTemplateKwargs = z
  .string()
  .refine((text) => readChatTemplateKwargs(text) !== undefined, 'must be a JSON object')
  .describe('Other variables of the chat template as JSON, such as {"enable_thinking": false}');

/** The variables in a config's text; undefined if it is not a JSON object.
 *  @example '{"enable_thinking": false}'  →  { enable_thinking: false } */
export function readChatTemplateKwargs(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    // Text that is not JSON is rejected by the schema.
    return undefined;
  }
}

/** What a template replaces: `{column}` with the column's text, `{{` and `}}` with single braces. */
export const templatePlaceholder = /\{\{|\}\}|\{([^{}]+)\}/g;

/** Columns that may hold prompts, in order of preference. */
export const defaultPromptColumns = [
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
  split: name.default('train').describe('Split of a hub dataset to train on'),
  promptColumn: name
    .optional()
    .describe(`Column with the prompts; default: the first of ${defaultPromptColumns.join(', ')}`),
  template: name
    .optional()
    .describe(
      'Template of a prompt; {column} is replaced with the text of that column, and \\n and \\t in the flag are a new line and a tab',
    )
    .meta({ escapes: true }),
  chat: z
    .boolean()
    .default(false)
    .describe("Format each prompt as a user message with the model's chat template"),
  systemPrompt: name.optional().describe('System message for chats without one'),
  chatTemplateKwargs: chatTemplateKwargs.optional(),
  maxPromptTokens: count
    .optional()
    .describe('Longest prompt in tokens; default: as long as the model allows'),
  truncatePrompts: z
    .enum(['none', 'left'])
    .default('none')
    .describe(
      'Prompts that are too long: none leaves them out, left keeps a BOS token and the last tokens that fit',
    ),
  maxPrompts: count.optional().describe('Most prompts to read from each source; default: all'),
  validationFile: name.optional().describe('Validation prompts: a file or the id of a hub dataset'),
  validationSplit: name.optional().describe('Split of the hub dataset to validate on'),
  validationFraction: z
    .number()
    .min(0)
    .lt(1)
    .default(0.1)
    .describe(
      'Fraction of the prompts to validate on, if neither validationFile nor validationSplit is set',
    ),
};

/** Where prompts come from and how rows become prompts. */
export const dataConfigShape = {
  prompts: name.describe('Prompts: a file or the id of a hub dataset, such as owner/name'),
  ...promptOptionsShape,
};

const promptOptionsSchema = z.strictObject(promptOptionsShape).superRefine(refineTemplate);

export const dataConfigSchema = z.strictObject(dataConfigShape).superRefine(refineTemplate);

/** How rows become prompts; every field has a default. */
export type PromptOptions = z.input<typeof promptOptionsSchema>;

export type ResolvedPromptOptions = Readonly<z.output<typeof promptOptionsSchema>>;

/** Data options; every field but `prompts` has a default. */
export type DataConfigOptions = z.input<typeof dataConfigSchema>;

/** Data options with all defaults filled in. */
export type DataConfig = Readonly<z.output<typeof dataConfigSchema>>;

/** Checks prompt options and fills in the defaults. */
export function resolvePromptOptions(options: PromptOptions = {}): ResolvedPromptOptions {
  return parseConfig(promptOptionsSchema, options, { name: 'the prompt options' });
}

/** Checks data options and fills in the defaults.
 *  @example { prompts: 'prompts.jsonl' }  →  validate on a tenth of the prompts */
export function resolveDataConfig(options: DataConfigOptions): DataConfig {
  return parseConfig(dataConfigSchema, options, { name: 'the data config' });
}

type TemplateOptions = Pick<ResolvedPromptOptions, 'template' | 'promptColumn'>;

/** Describes the first contradiction between two fields, if there is one. */
export function findDataContradiction(config: TemplateOptions): string | undefined {
  const { template, promptColumn } = config;
  if (template === undefined) return undefined;
  if (promptColumn !== undefined) {
    return `promptColumn must not be set with template, which names its columns, got "${promptColumn}"`;
  }
  return [...template.matchAll(templatePlaceholder)].some(([, column]) => column !== undefined)
    ? undefined
    : `template must contain a {column}, otherwise all prompts are the same, got ${JSON.stringify(template)}`;
}

/** Zod refinement: a template must be usable for prompts. */
export function refineTemplate(config: TemplateOptions, context: z.RefinementCtx): void {
  const message = findDataContradiction(config);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
}
