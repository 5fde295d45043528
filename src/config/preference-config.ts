import { z } from 'zod';
import { rowShape } from './completion-config.ts';
import { refineTemplate } from './data-config.ts';
import { parseConfig } from './parse-config.ts';

const name = z.string().min(1);

/** The ways in which a row can express a preference. */
export const preferenceFormats = ['pair', 'best', 'ranking', 'rating'] as const;

export type PreferenceFormat = (typeof preferenceFormats)[number];

/** How rows of data become preferences. */
const preferenceOptionsShape = {
  ...rowShape,
  format: z
    .enum(preferenceFormats)
    .optional()
    .describe('Format of the rows; default: detected from the first row'),
  chosenColumn: name.default('chosen').describe('Column with the better completion of a pair'),
  rejectedColumn: name.default('rejected').describe('Column with the worse completion of a pair'),
  marginColumn: name
    .default('margin')
    .describe('Column with the margin by which it is better, ≥ 0; 0 if missing'),
  labelColumn: name
    .default('label')
    .describe(
      'Column with the certainty of the label: chosen, tie or a probability; chosen if missing',
    ),
  completionsColumn: name
    .default('completions')
    .describe('Column with the list of completions of a best or ranking row'),
  bestColumn: name.default('best').describe('Column with the index of the best completion, from 0'),
  rankingColumn: name
    .default('ranking')
    .describe('Column with the indices from best to worst; ties are in a nested list'),
  completionColumn: name.default('completion').describe('Column with the rated completion'),
  ratingColumn: name.default('rating').describe('Column with the rating'),
  ratingMin: z.number().optional().describe('Worst rating on the scale, such as 1'),
  ratingMax: z.number().optional().describe('Best rating on the scale, such as 5'),
};

export const preferenceOptionsSchema = z
  .strictObject(preferenceOptionsShape)
  .superRefine(refinePreferences);

/** How rows become preferences; every field has a default. */
export type PreferenceOptions = z.input<typeof preferenceOptionsSchema>;

export type ResolvedPreferenceOptions = Readonly<z.output<typeof preferenceOptionsSchema>>;

/** Checks preference options and fills in the defaults. */
export function resolvePreferenceOptions(
  options: PreferenceOptions = {},
): ResolvedPreferenceOptions {
  return parseConfig(preferenceOptionsSchema, options, { name: 'the preference options' });
}

/** Zod refinement: checks the template and the rating scale. */
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
    const [present, missing] =
      ratingMin === undefined ? ['ratingMax', 'ratingMin'] : ['ratingMin', 'ratingMax'];
    return `${missing} must be set together with ${present}`;
  }
  return ratingMin !== undefined && ratingMax! <= ratingMin
    ? `ratingMax must be above ratingMin (${ratingMin}), got ${ratingMax}`
    : undefined;
}
