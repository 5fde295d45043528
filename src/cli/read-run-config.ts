import { resolve } from 'node:path';
import { loadConfigValues } from '../config/load-config-file.ts';
import { ConfigError } from '../config/parse-config.ts';
import { type AnyRunConfig, type RunKind, resolvePaths } from '../config/run-config.ts';
import { readConfigOf } from '../run/run-config-files.ts';
import type { RunFlags } from './run-flags.ts';

interface Given<O> {
  readonly flags: Pick<RunFlags, 'config' | 'resume'>;
  /** The keys of the config that were given as flags. */
  readonly values: Partial<O>;
}

/** The config of a command: a file's values under those of flags, or the config of a run to resume. */
export async function readRunConfig<O extends object, C extends AnyRunConfig>(
  kind: RunKind<O, C>,
  given: Given<O>,
): Promise<C> {
  const { config: file, resume } = given.flags;
  if (resume !== undefined) return readResumed(resume, { kind, given });
  const values = file === undefined ? {} : await loadConfigValues<O>(file, kind.shape);
  const isFlagged = Object.keys(given.values).length > 0;
  const name = file === undefined ? 'the flags' : isFlagged ? `${file} with the flags` : file;
  return kind.resolve({ ...values, ...given.values } as O, { name });
}

async function readResumed<O extends object, C extends AnyRunConfig>(
  folder: string,
  { kind, given }: { readonly kind: RunKind<O, C>; readonly given: Given<O> },
): Promise<C> {
  const { config: file } = given.flags;
  if (file !== undefined) {
    throw new ConfigError(
      `Cannot resume ${folder} with ${file}: a run goes on with the config that it began with; leave out --config`,
    );
  }
  const config = await readConfigOf(folder, kind);
  const began = resolvePaths({ ...config, output: resolve(folder) }, process.cwd());
  const asked = resolvePaths(given.values, process.cwd());
  for (const [key, value] of Object.entries(asked)) {
    const before = JSON.stringify(began[key as keyof C]);
    if (before === JSON.stringify(value)) continue;
    throw new ConfigError(
      `Cannot resume ${folder}: ${key} must be what the run began with, ${before ?? 'not given'}, got ${JSON.stringify(value)}; leave the flag out or start a new run`,
    );
  }
  return config;
}
