import { isOnHub, nameOf, type RowSource } from './read-rows.ts';

interface ValidationOptions {
  readonly split: string;
  readonly validationFile?: string | undefined;
  readonly validationSplit?: string | undefined;
  /** What errors call a value in memory; `prompt` by default. */
  readonly noun?: string;
}

/** The source of rows to validate on, if they have one of their own. */
export async function findValidation(
  rows: RowSource,
  { validationFile, validationSplit, split, noun }: ValidationOptions,
): Promise<{ source: RowSource; split: string } | undefined> {
  const source = validationFile ?? rows;
  if (validationSplit === undefined) {
    return validationFile === undefined ? undefined : { source, split };
  }
  if (await isOnHub(source)) return { source, split: validationSplit };
  throw new TypeError(
    `Cannot use validationSplit "${validationSplit}": ${nameOf(source, noun)} must be a hub dataset, as others have no splits; give validationFile instead`,
  );
}
