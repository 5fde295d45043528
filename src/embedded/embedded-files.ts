import { fileURLToPath } from 'node:url';

/** The embedded model's folder in this package: a Hugging Face model with its preferences. */
export const embeddedFolder = fileURLToPath(new URL('../../embedded', import.meta.url));

/** Pairs of summaries by the embedded model, of which a noisy judge prefers one. */
export const embeddedPreferences = fileURLToPath(
  new URL('../../embedded/preferences.jsonl', import.meta.url),
);
