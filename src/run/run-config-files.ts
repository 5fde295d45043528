import { join, resolve } from 'node:path';
import { ConfigError } from '../config/parse-config.ts';
import { type AnyRunConfig, type RunKind, resolvePaths } from '../config/run-config.ts';
import { readRunConfig } from './run-folder.ts';

/** A key of each command's configs that the others do not have. */
const marks = { train: 'prompts', sft: 'fullParameters', reward: 'chosenColumn' } as const;

/** The command that a saved config is of; undefined if it is of none. */
export function commandOf(config: object): keyof typeof marks | undefined {
  const commands = Object.keys(marks) as (keyof typeof marks)[];
  return commands.find((command) => marks[command] in config);
}

/** A config with its folder and with absolute paths, so that its run can be resumed from anywhere. */
export function completeConfig<O extends object, C extends AnyRunConfig>(
  options: O,
  kind: RunKind<O, C>,
): C & { readonly output: string } {
  const config = resolvePaths(kind.resolve(options), process.cwd());
  return { ...config, output: resolve(config.output ?? defaultOutput(kind.prefix)) };
}

/** The config to go on with the run in a folder, which may have been moved. */
export async function readConfigOf<O extends object, C extends AnyRunConfig>(
  folder: string,
  kind: RunKind<O, C>,
): Promise<C> {
  const saved = await readRunConfig(folder);
  const command = commandOf(saved);
  if (command !== undefined && command !== kind.command) {
    throw new ConfigError(
      `Cannot use the run in ${folder}: it must be one of "proximal ${kind.command}", got one of "proximal ${command}"`,
    );
  }
  const options = { ...saved, output: folder } as unknown as O;
  return kind.resolve(options, { name: `the config of ${folder}` });
}

/** Where a run goes if nobody says: `runs/ppo-20260131-235959`, by this machine's clock. */
function defaultOutput(prefix: string, now = new Date()): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const date = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`;
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join('');
  return join('runs', `${prefix}-${date}-${time}`);
}
