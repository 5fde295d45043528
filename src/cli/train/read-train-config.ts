import { resolve } from 'node:path';
import { loadConfigFile } from '../../config/load-config-file.ts';
import { ConfigError } from '../../config/parse-config.ts';
import {
  placePaths,
  type RunConfig,
  type RunConfigOptions,
  resolveRunConfig,
} from '../../config/run-config.ts';
import { readResumedConfig } from '../../run/train-run.ts';
import type { TrainFlags } from './train-flags.ts';

type Given = Partial<RunConfigOptions>;

/** The config of a command: a file's values under those of flags, or the config of a run to resume. */
export async function readTrainConfig(
  { config: file, resume }: Pick<TrainFlags, 'config' | 'resume'>,
  given: Given,
): Promise<RunConfig> {
  if (resume !== undefined) return readResumed(resume, { file, given });
  const values = file === undefined ? {} : await loadConfigFile(file);
  const isFlagged = Object.keys(given).length > 0;
  const name = file === undefined ? 'the flags' : isFlagged ? `${file} with the flags` : file;
  return resolveRunConfig({ ...values, ...given } as RunConfigOptions, { name });
}

async function readResumed(
  folder: string,
  { file, given }: { file: string | undefined; given: Given },
): Promise<RunConfig> {
  if (file !== undefined) {
    throw new ConfigError(
      `Cannot resume ${folder} with ${file}: a run goes on with the config that it began with; leave out --config`,
    );
  }
  const config = await readResumedConfig(folder);
  const began = placePaths({ ...config, output: resolve(folder) }, process.cwd());
  const asked = placePaths(given, process.cwd());
  for (const [key, value] of Object.entries(asked)) {
    const before = JSON.stringify(began[key as keyof RunConfig]);
    if (before === JSON.stringify(value)) continue;
    throw new ConfigError(
      `Cannot resume ${folder}: ${key} must be what the run began with, ${before ?? 'not given'}, got ${JSON.stringify(value)}; leave the flag out or start a new run`,
    );
  }
  return config;
}
