import { join, resolve } from 'node:path';
import { ConfigError } from '../config/parse-config.ts';
import { type AnyRunConfig, type RunKind, resolvePaths } from '../config/run-config.ts';
import { readRunConfig } from './run-folder.ts';
import { readSecrets } from './run-secrets.ts';

/** For each command, a config key that the other commands do not have. */
const distinctKeys = { train: 'prompts', sft: 'fullParameters', reward: 'chosenColumn' } as const;

/** The command that a saved config belongs to; undefined if it belongs to none. */
export function commandOf(config: object): keyof typeof distinctKeys | undefined {
  const commands = Object.keys(distinctKeys) as (keyof typeof distinctKeys)[];
  return commands.find((command) => distinctKeys[command] in config);
}

/** Resolves a config and makes its paths absolute, so that the run can be resumed from anywhere. */
export function completeConfig<O extends object, C extends AnyRunConfig>(
  options: O,
  kind: RunKind<O, C>,
): C & { readonly output: string } {
  const config = resolvePaths(kind.resolve(options), process.cwd());
  return { ...config, output: resolve(config.output ?? defaultOutput(kind.prefix)) };
}

/** What may differ when a run is resumed: its length, its workers and its device. */
export interface ChangeableSettings {
  readonly maxSteps?: number | undefined;
  readonly queue?: string | undefined;
  readonly device?: string | undefined;
}

/** The config to resume the run in a folder, which may have been moved.
 *  @param changed settings that replace those of the run */
export async function readConfigOf<O extends object, C extends AnyRunConfig>(
  folder: string,
  kind: RunKind<O, C>,
  changed: ChangeableSettings = {},
): Promise<C> {
  const saved = await readRunConfig(folder);
  const command = commandOf(saved);
  if (command !== undefined && command !== kind.command) {
    throw new ConfigError(
      `Cannot use the run in ${folder}: it must be a run of "proximal ${kind.command}", got one of "proximal ${command}"`,
    );
  }
  const changes = Object.entries(changed).filter(([, value]) => value !== undefined);
  const options = {
    ...{ ...saved, ...(await readSecrets(folder)) },
    ...{ output: folder, ...Object.fromEntries(changes) },
  } as unknown as O;
  return kind.resolve(options, { name: `the config of ${folder}` });
}

/** The default folder, in local time.
 *  @example ppo  →  runs/ppo-20260131-235959 */
export function defaultOutput(prefix: string, now = new Date()): string {
  const pad = (value: number) => String(value).padStart(2, '0');
  const date = `${now.getFullYear()}${pad(now.getMonth() + 1)}${pad(now.getDate())}`;
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(pad).join('');
  return join('runs', `${prefix}-${date}-${time}`);
}
