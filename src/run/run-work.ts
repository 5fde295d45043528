import { rm } from 'node:fs/promises';
import { type LoadedModel, loadModel } from '../models/index.ts';
import { RunFolder } from './run-folder.ts';

/** What a run does, whatever it trains. */
interface RunWork<P, R> {
  /** Loads what is needed; if it fails, the run has not begun. */
  prepare(): Promise<P>;
  train(run: RunFolder, parts: P): Promise<R>;
}

interface RunWorkOptions {
  /** Go on with the run in the config's `output`; false by default. */
  readonly resume?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Does work in a run's folder, whose state tells how it ended. A run that fails before it begins
 *  leaves nothing behind. */
export async function inRunFolder<P, R>(
  config: { readonly output: string; readonly keepCheckpoints: number },
  { resume = false, signal }: RunWorkOptions,
  work: RunWork<P, R>,
): Promise<R> {
  const { output, keepCheckpoints } = config;
  const run = await RunFolder.create(output, { config, keepCheckpoints, resume });
  let hasBegun = resume;
  try {
    const parts = await work.prepare();
    hasBegun = true;
    return await work.train(run, parts);
  } catch (error) {
    const status = signal?.aborted ? 'interrupted' : 'failed';
    run.update({ status, message: error instanceof Error ? error.message : String(error) });
    throw error;
  } finally {
    run.close();
    if (!hasBegun) await rm(output, { recursive: true });
  }
}

/** The model that a config names. */
export function loadNamedModel({
  modelName,
  revision,
}: {
  readonly modelName: string;
  readonly revision?: string | undefined;
}): Promise<LoadedModel> {
  return loadModel(modelName, revision === undefined ? {} : { revision });
}

/** The part of a config that another schema describes. */
export function pick<S extends object, K extends keyof S & string>(
  config: S,
  shape: Readonly<Record<K, unknown>>,
): Pick<S, K> {
  const keys = Object.keys(shape) as K[];
  return Object.fromEntries(keys.map((key) => [key, config[key]])) as Pick<S, K>;
}
