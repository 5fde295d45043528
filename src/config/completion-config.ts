import { z } from 'zod';
import { dataConfigShape, refineTemplate } from './data-config.ts';
import { parseConfig } from './parse-config.ts';

const count = z.int().min(1);
const name = z.string().min(1);

const {
  split,
  template,
  systemPrompt,
  chatTemplateKwargs,
  validationFile,
  validationSplit,
  validationFraction,
} = dataConfigShape;

/** Fields that completion and preference options share. */
export const rowShape = {
  split,
  promptColumn: name.optional().describe('Column with the prompts; default: prompt'),
  template,
  chat: z
    .boolean()
    .default(false)
    .describe(
      "Format prompts and completions as user and assistant messages with the model's chat template",
    ),
  systemPrompt,
  chatTemplateKwargs,
  appendEos: z
    .boolean()
    .default(true)
    .describe('Append the EOS token to completions that do not end with it'),
  maxTokens: count
    .optional()
    .describe(
      'Longest prompt and completion together, in tokens; default: as long as the model allows',
    ),
  maxRows: count.optional().describe('Most rows to use from each source; default: all'),
  onBadRow: z
    .enum(['report', 'fail'])
    .default('report')
    .describe('What to do with an unusable row: skip and report it, or fail'),
  validationFile: validationFile.describe('Validation rows: a file or the id of a hub dataset'),
  validationSplit,
  validationFraction: validationFraction.describe(
    'Fraction of the prompts whose rows to validate on, if neither validationFile nor validationSplit is set',
  ),
};

/** How rows of data become texts for supervised fine-tuning. */
const completionOptionsShape = {
  ...rowShape,
  completionColumn: name.default('completion').describe('Column with the completions'),
  textColumn: name.default('text').describe('Column with whole texts; every token is trained'),
  messagesColumn: name
    .default('messages')
    .describe("Column with conversations; only the assistant's turns are trained"),
  tooLong: z
    .enum(['truncate', 'drop'])
    .default('truncate')
    .describe('What to do with texts longer than maxTokens'),
};

export const completionOptionsSchema = z
  .strictObject(completionOptionsShape)
  .superRefine(refineTemplate);

/** How rows become completions; every field has a default. */
export type CompletionOptions = z.input<typeof completionOptionsSchema>;

export type ResolvedCompletionOptions = Readonly<z.output<typeof completionOptionsSchema>>;

/** Checks completion options and fills in the defaults. */
export function resolveCompletionOptions(
  options: CompletionOptions = {},
): ResolvedCompletionOptions {
  return parseConfig(completionOptionsSchema, options, { name: 'the completion options' });
}
