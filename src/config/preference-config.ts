import { z } from 'zod';
import { refineTemplate, rowShape } from './completion-config.ts';
import { parseConfig } from './parse-config.ts';

const name = z.string().min(1);

/** The ways in which rows say what people prefer. */
export const preferenceFormats = ['pair', 'best', 'ranking', 'rating'] as const;

export type PreferenceFormat = (typeof preferenceFormats)[number];

/** How rows of data become preferences. */
const preferenceOptionsShape = {
  ...rowShape,
  format: z
    .enum(preferenceFormats)
    .optional()
    .describe('What a row holds; that of the first row if not given'),
  chosenColumn: name.default('chosen').describe('Column with the better completion of a pair'),
  rejectedColumn: name.default('rejected').describe('Column with the worse completion of a pair'),
  marginColumn: name
    .default('margin')
    .describe('Column that says how much better it is, ≥ 0; 0 where there is none'),
  labelColumn: name
    .default('label')
    .describe(
      'Column that says how sure that is: chosen, tie, or a probability; chosen where there is none',
    ),
  completionsColumn: name
    .default('completions')
    .describe('Column with the list of completions of a choice or a ranking'),
  bestColumn: name.default('best').describe('Column with the place of the best of them, from 0'),
  rankingColumn: name
    .default('ranking')
    .describe('Column with their places from best to worst, equal ones in a list of their own'),
  completionColumn: name.default('completion').describe('Column with the completion of a rating'),
  ratingColumn: name.default('rating').describe('Column with its rating'),
  ratingMin: z.number().optional().describe('Worst rating of the scale, such as 1'),
  ratingMax: z.number().optional().describe('Best rating of the scale, such as 5'),
};

export const preferenceOptionsSchema = z
  .strictObject(preferenceOptionsShape)
  .superRefine(refinePreferences);

/** How rows become preferences, as a user gives it: everything has a default. */
export type PreferenceOptions = z.input<typeof preferenceOptionsSchema>;

export type ResolvedPreferenceOptions = Readonly<z.output<typeof preferenceOptionsSchema>>;

/** Checks how rows become preferences and fills in the defaults. */
export function resolvePreferenceOptions(
  options: PreferenceOptions = {},
): ResolvedPreferenceOptions {
  return parseConfig(preferenceOptionsSchema, options, { name: 'the preference options' });
}

/** Beside a template that prompts could have, a scale must have two ends. */
export function refinePreferences(
  config: Readonly<z.output<z.ZodObject<typeof preferenceOptionsShape>>>,
  context: z.RefinementCtx,
): void {
  refineTemplate(config, context);
  const message = findScaleContradiction(config);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
}

function findScaleContradiction({
  ratingMin,
  ratingMax,
}: Pick<ResolvedPreferenceOptions, 'ratingMin' | 'ratingMax'>): string | undefined {
  if ((ratingMin === undefined) !== (ratingMax === undefined)) {
    const [given, lacking] =
      ratingMin === undefined ? ['ratingMax', 'ratingMin'] : ['ratingMin', 'ratingMax'];
    return `${lacking} must be given beside ${given}, as a scale has two ends`;
  }
  return ratingMin !== undefined && ratingMax! <= ratingMin
    ? `ratingMax must be above ratingMin (${ratingMin}), got ${ratingMax}`
    : undefined;
}
