import { createRequire } from 'node:module';

const manifest: { version: string } = createRequire(import.meta.url)('../package.json');

/** The version of this package. */
export const version = manifest.version;
