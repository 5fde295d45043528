import type { RewardModelClass, RewardModelOptions } from '../models/reward-model.ts';
import { importRewardFile, isRewardModelClass, type ModuleUrls } from './import-reward-file.ts';
import type { NamedRewardSpec } from './library/named-rewards.ts';
import { RewardModelSource } from './reward-model-source.ts';
import type { RewardSource, WeightedSource } from './reward-source.ts';
import { RewardThread } from './reward-thread.ts';
import type { WorkerSource } from './reward-worker.ts';

/** What a user's reward file may use while it is loaded. */
export interface LoadRewardFileOptions {
  /** Constructor options for a reward model class in the file; called only if there is one. */
  readonly rewardModel?:
    | ((Class: RewardModelClass) => RewardModelOptions | Promise<RewardModelOptions>)
    | undefined;
  /** Name of the file's only reward, or the start of the names of several, followed by a dot. */
  readonly name?: string | undefined;
  /** URLs of modules that the file can import by name without installing them, such as this package. */
  readonly modules?: ModuleUrls | undefined;
  /** Stops the import of the file. */
  readonly signal?: AbortSignal | undefined;
}

/** Loads reward sources from the default export of a TypeScript or JavaScript file: rewards in any form
 *  that `toWeightedSources` accepts, or a class that extends RewardModel. Rewards run in their own
 *  thread, so that one that never returns can be stopped; a reward model runs where the models are.
 *  @example export default (sample) => -sample.response.length
 *  @example export default { brevity, polite: { source: judge, weight: 0.5 } } */
export async function loadRewardFile(
  file: string,
  options: LoadRewardFileOptions = {},
): Promise<WeightedSource[]> {
  const { modules = {}, signal } = options;
  const thread = new RewardThread({ file, modules });
  const sources = await thread.load(signal);
  if (sources !== undefined) return connectSources(thread, sources, options);
  thread.stop();
  const Class = await importModelClass(file, modules);
  return [{ source: await createModelSource(Class, { file, ...options }), weight: 1 }];
}

/** Creates a reward of the library in its own thread: a regular expression may take forever.
 *  @param options.name replaces the reward's own name */
export async function loadNamedReward(
  { weight, ...reward }: NamedRewardSpec,
  options: Pick<LoadRewardFileOptions, 'name' | 'signal'> = {},
): Promise<WeightedSource[]> {
  const thread = new RewardThread(reward);
  const sources = await thread.load(options.signal);
  return connectSources(thread, sources ?? [], options).map(({ source }) => ({ source, weight }));
}

/** The sources of a thread, to be called from this one. */
function connectSources(
  thread: RewardThread,
  sources: readonly WorkerSource[],
  { name: prefix }: Pick<LoadRewardFileOptions, 'name'>,
): WeightedSource[] {
  return sources.map(({ timeout, weight, ...own }, index) => {
    const name = nameOf(own.name, { prefix, count: sources.length });
    const source: RewardSource = {
      ...{ name, timeout },
      score: (samples, context) => thread.score({ index, name }, samples, context),
      dispose: () => thread.stop(),
    };
    return { source, weight };
  });
}

/** Imports a file that exports a reward model into this thread. */
async function importModelClass(file: string, modules: ModuleUrls): Promise<RewardModelClass> {
  const exported = await importRewardFile(file, modules);
  if (isRewardModelClass(exported)) return exported;
  throw new Error(`Cannot use ${file}: it must export the same each time it is imported`);
}

/** @example 'brief', { prefix: 'mine', count: 2 }  →  'mine.brief' */
function nameOf(own: string, { prefix, count }: { prefix: string | undefined; count: number }) {
  if (prefix === undefined) return own;
  return count === 1 ? prefix : `${prefix}.${own}`;
}

/** Loads a reward file and closes it again; throws what `loadRewardFile` would throw before a reward
 *  model is created. Returns the names of its rewards. */
export async function checkRewardFile(
  file: string,
  { name: prefix, modules = {}, signal }: Omit<LoadRewardFileOptions, 'rewardModel'> = {},
): Promise<string[]> {
  const thread = new RewardThread({ file, modules });
  try {
    const sources = await thread.load(signal);
    if (sources === undefined) return [prefix ?? (await importModelClass(file, modules)).name];
    return sources.map(({ name }) => nameOf(name, { prefix, count: sources.length }));
  } finally {
    thread.stop();
  }
}

async function createModelSource(
  Class: RewardModelClass,
  { file, name, rewardModel }: LoadRewardFileOptions & { readonly file: string },
): Promise<RewardModelSource> {
  if (rewardModel === undefined) {
    throw new TypeError(
      `Cannot use ${file}: its class ${Class.name} extends RewardModel, so it needs a reward model, got none`,
    );
  }
  return new RewardModelSource(new Class(await rewardModel(Class)), { name });
}
