import { existsSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import { createJiti } from 'jiti';
import type { RewardModel, RewardModelOptions } from '../models/reward-model.ts';
import { RewardModelSource } from './reward-model-source.ts';
import { messageOf, type WeightedSource } from './reward-source.ts';
import { type Rewards, toWeightedSources } from './to-weighted-sources.ts';

/** What a user's reward file may use while it is loaded. */
export interface LoadRewardFileOptions {
  /** Constructor options for a reward model class in the file; called only if there is one. */
  readonly rewardModel?: (() => RewardModelOptions | Promise<RewardModelOptions>) | undefined;
  /** Modules that the file can import without installing them, such as this package. */
  readonly modules?: Readonly<Record<string, unknown>> | undefined;
}

type RewardModelClass = new (options: RewardModelOptions) => RewardModel;

/** Loads reward sources from the default export of a TypeScript or JavaScript file: rewards in any form
 *  that `toWeightedSources` accepts, or a class that extends RewardModel.
 *  @example export default (sample) => -sample.response.length
 *  @example export default { brevity, polite: { source: judge, weight: 0.5 } } */
export async function loadRewardFile(
  file: string,
  options: LoadRewardFileOptions = {},
): Promise<WeightedSource[]> {
  const exported = await importDefault(file, options.modules ?? {});
  if (isRewardModelClass(exported)) {
    return [{ source: await createModelSource(exported, { file, ...options }), weight: 1 }];
  }
  return toWeightedSources(exported as Rewards, {
    subject: `Cannot use ${file}: its default export`,
    fallbackName: basename(file, extname(file)),
  });
}

async function createModelSource(
  Class: RewardModelClass,
  { file, rewardModel }: LoadRewardFileOptions & { readonly file: string },
): Promise<RewardModelSource> {
  if (rewardModel === undefined) {
    throw new TypeError(
      `Cannot use ${file}: its class ${Class.name} extends RewardModel, so it needs a reward model, got none`,
    );
  }
  return new RewardModelSource(new Class(await rewardModel()));
}

async function importDefault(
  file: string,
  modules: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const path = resolve(file);
  if (!existsSync(path)) {
    throw new Error(`Cannot load ${file}: it must be a file with rewards, got no such file`);
  }
  // jiti's cache would write files next to the user's.
  const jiti = createJiti(path, { fsCache: false, interopDefault: false, virtualModules: modules });
  let module: unknown;
  try {
    module = await jiti.import(path);
  } catch (cause) {
    throw new Error(`Cannot load ${file}: ${messageOf(cause)}`, { cause });
  }
  if (!isModule(module)) return module;
  if ('default' in module) return module.default;
  const names = Object.keys(module).join(', ') || 'nothing';
  throw new TypeError(
    `Cannot use ${file}: it must export its rewards as default, got ${names}; use "export default"`,
  );
}

/** Whether the value is an ES module rather than the exports of a CommonJS file. */
function isModule(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  return '__esModule' in value || Object.prototype.toString.call(value) === '[object Module]';
}

/** Detected by its method, since the file may have loaded its own copy of RewardModel. */
function isRewardModelClass(value: unknown): value is RewardModelClass {
  return typeof value === 'function' && typeof value.prototype?.forward === 'function';
}
