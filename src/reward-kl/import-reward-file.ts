import { existsSync, readFileSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import { createJiti } from 'jiti';
import type { RewardModelClass } from '../models/reward-model.ts';
import { describeThrown } from './describe-failure.ts';
import type { WeightedSource } from './reward-source.ts';
import { type Rewards, toWeightedSources } from './to-weighted-sources.ts';

/** URLs of modules by the names that a user's file can import without installing them. */
export type ModuleUrls = Readonly<Record<string, string>>;

/** Imports the default export of a TypeScript or JavaScript file with rewards. */
export async function importRewardFile(file: string, modules: ModuleUrls = {}): Promise<unknown> {
  const path = resolve(file);
  if (!existsSync(path)) {
    throw new Error(`Cannot load ${file}: it must be a file with rewards, got no such file`);
  }
  return importUserFile(file, { modules, contents: 'its rewards' });
}

/** Imports the default export of a TypeScript or JavaScript file.
 *  @param options.contents what the file exports, for errors, such as `its rewards` */
export async function importUserFile(
  file: string,
  { modules, contents }: { readonly modules: ModuleUrls; readonly contents: string },
): Promise<unknown> {
  const path = resolve(file);
  let module: unknown;
  try {
    const virtualModules = await provideModules(path, modules);
    // jiti's cache would write files next to the user's.
    const jiti = createJiti(path, { fsCache: false, interopDefault: false, virtualModules });
    module = await jiti.import(path);
  } catch (cause) {
    throw new Error(`Cannot load ${file}: ${describeThrown(cause)}`, { cause });
  }
  if (!isModule(module)) return module;
  if ('default' in module) return module.default;
  const names = Object.keys(module).join(', ') || 'nothing';
  throw new TypeError(
    `Cannot use ${file}: it must export ${contents} as default, got ${names}; use "export default"`,
  );
}

/** The modules for jiti. They are large, so each is imported only when the file imports it; `require`
 *  cannot wait, so a file that uses it gets them in advance. */
async function provideModules(path: string, urls: ModuleUrls): Promise<Record<string, unknown>> {
  const provided: Record<string, unknown> = {};
  const usesRequire = /\brequire\s*\(/.test(readFileSync(path, 'utf8'));
  for (const [name, url] of Object.entries(urls)) {
    if (usesRequire) provided[name] = await import(url);
    else Object.defineProperty(provided, name, { enumerable: true, get: () => import(url) });
  }
  return provided;
}

/** Whether the value is an ES module rather than the exports of a CommonJS file. */
function isModule(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  return '__esModule' in value || Object.prototype.toString.call(value) === '[object Module]';
}

/** Whether a file exports a reward model. Detected by its method, since the file may have loaded its own
 *  copy of RewardModel. */
export function isRewardModelClass(exported: unknown): exported is RewardModelClass {
  return typeof exported === 'function' && typeof exported.prototype?.forward === 'function';
}

/** The sources that a file exports; an unnamed function is named after the file. */
export function sourcesOfFile(exported: unknown, file: string): WeightedSource[] {
  return toWeightedSources(exported as Rewards, {
    subject: `Cannot use ${file}: its default export`,
    fallbackName: basename(file, extname(file)),
  });
}
