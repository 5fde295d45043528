type Config = Readonly<Record<string, unknown>>;

/** One setting in several runs; undefined if a run does not have it. */
export interface ConfigRow {
  readonly key: string;
  readonly values: readonly (string | undefined)[];
  readonly differs: boolean;
}

/** Compares the settings of several runs, in the order of the configs.
 *  @example [{ a: 1 }, { a: 1, b: { c: [2] } }]  →  a: '1', '1', same; b.c: undefined, '[2]', differs */
export function compareConfigs(configs: readonly Config[]): ConfigRow[] {
  const flat = configs.map((config) => new Map(flatten(config, '')));
  const keys = new Set(flat.flatMap((settings) => [...settings.keys()]));
  return [...keys].map((key) => {
    const values = flat.map((settings) => settings.get(key));
    return { key, values, differs: values.some((value) => value !== values[0]) };
  });
}

function flatten(config: object, prefix: string): [string, string][] {
  return Object.entries(config).flatMap(([key, value]): [string, string][] => {
    const name = `${prefix}${key}`;
    const nested = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (nested && Object.keys(value).length > 0) return flatten(value, `${name}.`);
    return [[name, typeof value === 'string' ? value : JSON.stringify(value)]];
  });
}
