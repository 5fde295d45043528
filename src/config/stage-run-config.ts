import { z } from 'zod';
import { ConfigError, parseConfig } from './parse-config.ts';

const name = z.string().min(1);

/** Where the rows of a stage come from. */
export const stageDataShape = {
  data: name.describe('Rows to learn from: a file, or the id of a hub dataset such as owner/name'),
};

/** Checks the config of a stage's run, whose data have no default. */
export function parseStageRun<S extends z.ZodObject>(
  schema: S,
  options: Readonly<Record<string, unknown>>,
  { name: called }: { readonly name: string },
): z.output<S> {
  if (options.data === undefined) {
    throw new ConfigError(
      `Cannot use ${called}: data must be given, a file such as data.jsonl or the id of a hub dataset, got none`,
    );
  }
  return parseConfig(schema, options, { name: called });
}

/** Where a run goes. */
export function outputField(prefix: string) {
  return name
    .optional()
    .describe(`Folder of the run, new or empty; runs/${prefix}-<time> if not given`);
}
