import { z } from 'zod';
import {
  dataConfigShape,
  findDataContradiction,
  type ResolvedPromptOptions,
} from './data-config.ts';
import { parseConfig } from './parse-config.ts';

const count = z.int().min(1);
const name = z.string().min(1);

const { split, template, systemPrompt, validationFile, validationSplit, validationFraction } =
  dataConfigShape;

/** What completions and preferences have in common: where rows come from and what is done to them. */
export const rowShape = {
  split,
  promptColumn: name.optional().describe('Column with the prompts; prompt if not given'),
  template,
  chat: z
    .boolean()
    .default(false)
    .describe("Make texts messages of user and assistant in the model's chat template"),
  systemPrompt,
  appendEos: z
    .boolean()
    .default(true)
    .describe('End completions with the EOS token if they do not have one'),
  maxTokens: count
    .optional()
    .describe('Longest prompt with its completion, in tokens; what the model takes if not given'),
  maxRows: count.optional().describe('Rows that are kept from a source; all if not given'),
  onBadRow: z
    .enum(['report', 'fail'])
    .default('report')
    .describe('What a row that cannot be used does: count in the report, or end the run'),
  validationFile: validationFile.describe(
    'Rows to validate on: a file, or the id of a hub dataset',
  ),
  validationSplit,
  validationFraction: validationFraction.describe(
    'Part of the prompts whose rows are to validate on, if no file or split is given',
  ),
};

/** How rows of data become texts for supervised fine-tuning. */
const completionOptionsShape = {
  ...rowShape,
  completionColumn: name.default('completion').describe('Column with the completions'),
  textColumn: name.default('text').describe('Column with whole texts, of which all is trained'),
  messagesColumn: name
    .default('messages')
    .describe("Column with conversations, of which the assistant's turns are trained"),
  tooLong: z
    .enum(['truncate', 'drop'])
    .default('truncate')
    .describe('What is done with texts of more than maxTokens'),
};

export const completionOptionsSchema = z
  .strictObject(completionOptionsShape)
  .superRefine(refineTemplate);

/** How rows become completions, as a user gives it: everything has a default. */
export type CompletionOptions = z.input<typeof completionOptionsSchema>;

export type ResolvedCompletionOptions = Readonly<z.output<typeof completionOptionsSchema>>;

/** Checks how rows become completions and fills in the defaults. */
export function resolveCompletionOptions(
  options: CompletionOptions = {},
): ResolvedCompletionOptions {
  return parseConfig(completionOptionsSchema, options, { name: 'the completion options' });
}

/** A template must be one that prompts could have. */
export function refineTemplate(config: ResolvedPromptOptions, context: z.RefinementCtx): void {
  const message = findDataContradiction(config);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
}
