import { existsSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import { createJiti } from 'jiti';
import type { RewardModel, RewardModelOptions } from '../models/reward-model.ts';
import { messageOf } from './reward-error.ts';
import { RewardModelSource } from './reward-model-source.ts';
import type { WeightedSource } from './reward-source.ts';
import { type Rewards, toWeightedSources } from './to-weighted-sources.ts';

export interface LoadRewardFileOptions {
  /** What a reward model class of the file is made of; asked for only if there is one. */
  readonly rewardModel?: (() => RewardModelOptions | Promise<RewardModelOptions>) | undefined;
  /** Modules that the file may import by name without an installation, such as this package. */
  readonly modules?: Readonly<Record<string, unknown>> | undefined;
}

type RewardModelClass = new (options: RewardModelOptions) => RewardModel;

/** The reward sources of a TypeScript or JavaScript file, by its default export: rewards of any form
 *  that `toWeightedSources` takes, or a class that extends RewardModel.
 *  @example export default (sample) => -sample.response.length
 *  @example export default { brevity, polite: { source: judge, weight: 0.5 } } */
export async function loadRewardFile(
  file: string,
  options: LoadRewardFileOptions = {},
): Promise<WeightedSource[]> {
  const exported = await importDefault(file, options.modules ?? {});
  if (isRewardModelClass(exported)) {
    return [{ source: await makeModelSource(exported, { file, ...options }), weight: 1 }];
  }
  return toWeightedSources(exported as Rewards, {
    subject: `Cannot use ${file}: its default export`,
    fallbackName: basename(file, extname(file)),
  });
}

async function makeModelSource(
  Class: RewardModelClass,
  { file, rewardModel }: LoadRewardFileOptions & { readonly file: string },
): Promise<RewardModelSource> {
  if (rewardModel === undefined) {
    throw new TypeError(
      `Cannot use ${file}: its class ${Class.name} extends RewardModel, so a reward model must be given, got none`,
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
    throw new Error(`Cannot load ${file}: it must be a file with rewards, got nothing there`);
  }
  // Without its cache, nothing is written beside the user's files.
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
    `Cannot use ${file}: it must have its rewards as default export, got ${names}; write "export default"`,
  );
}

/** Whether it is an ES module, rather than what a CommonJS file exports. */
function isModule(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  return '__esModule' in value || Object.prototype.toString.call(value) === '[object Module]';
}

/** Known by its method: the file may have loaded a copy of RewardModel of its own. */
function isRewardModelClass(value: unknown): value is RewardModelClass {
  return typeof value === 'function' && typeof value.prototype?.forward === 'function';
}
