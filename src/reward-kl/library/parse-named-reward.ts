import { ConfigError } from '../../config/parse-config.ts';

/** A reward of the library as it is written on a command line or in a config file. */
export interface NamedRewardSpec {
  readonly name: string;
  /** As text, for `makeNamedReward`. */
  readonly options: Readonly<Record<string, string>>;
  readonly weight: number;
}

/** Reads `name`, `name=weight` or `name:option=value,…`, in which `weight` may stand among the
 *  options and `\,` is a comma inside a value.
 *  @example 'flesch=0.5'                     →  flesch, weight ½
 *  @example 'brevity:target=20,weight=0.5'   →  brevity, { target: '20' }, weight ½
 *  @example 'regex:pattern=^\d{1\,3}$'       →  regex, { pattern: '^\d{1,3}$' }, weight 1 */
export function parseNamedReward(text: string): NamedRewardSpec {
  const [, name = '', separator, rest = ''] = /^([^:=]*)([:=])?(.*)$/s.exec(text) ?? [];
  const entries =
    separator === ':' ? rest.split(/(?<!\\),/).map((part) => splitOption(part, text)) : [];
  const { weight = separator === '=' ? rest : '1', ...options } = Object.fromEntries(entries);
  return { name, options, weight: readWeight(weight, text) };
}

function splitOption(part: string, text: string): [key: string, value: string] {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(part) ?? [];
  if (key === undefined || value === undefined) {
    throw new ConfigError(
      `Cannot use the reward ${text}: after the colon it must have option=value, parted by commas, got ${JSON.stringify(part)}; write \\, for a comma in a value`,
    );
  }
  return [key.trim(), value.replaceAll('\\,', ',')];
}

function readWeight(weight: string, text: string): number {
  const value = weight.trim() === '' ? Number.NaN : Number(weight);
  if (Number.isFinite(value)) return value;
  throw new ConfigError(
    `Cannot use the reward ${text}: its weight must be a number, got ${JSON.stringify(weight)}`,
  );
}
