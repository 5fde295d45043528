import { fileURLToPath } from 'node:url';

/** The folder of the embedded model in this package: a Hugging Face model and its preferences. */
export const embeddedFolder = fileURLToPath(new URL('../../embedded', import.meta.url));

/** Pairs of summaries by the embedded model, labelled by a noisy judge. */
export const embeddedPreferences = fileURLToPath(
  new URL('../../embedded/preferences.jsonl', import.meta.url),
);
