import type { z } from 'zod';
import { stringifyWithoutSecrets } from '../http/url-secrets.ts';
import { configFields } from './config-fields.ts';

/** An invalid config. The message is one sentence about the first error. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Largest distance of a similar name, as a share of its length. */
const MAX_DISTANCE = 0.4;

/** Shorter names of config keys. */
export const aliasesOf: Readonly<Record<string, string>> = { model: 'modelName' };

/** Options whose model may be called `model` or `modelName`. */
export type WithModel<O> = O & {
  /** The same as `modelName`. */
  readonly model?: string | undefined;
};

/** Replaces shorter names of keys with those of the schema. Errors call the config `name`.
 *  @example { model: 'a/b' }  →  { modelName: 'a/b' } */
export function expandAliases(
  schema: z.ZodObject,
  config: unknown,
  { name }: { name: string },
): unknown {
  if (typeof config !== 'object' || config === null || Array.isArray(config)) return config;
  const expanded: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(config)) {
    const long = key in schema.shape ? undefined : aliasesOf[key];
    const target = long !== undefined && long in schema.shape ? long : key;
    if (target !== key && value !== undefined && (config as object)[target as never] !== undefined)
      throw new ConfigError(
        `Cannot use ${name}: it must have "${key}" or "${target}", which mean the same, got both`,
      );
    if (target === key || value !== undefined) expanded[target] = value;
  }
  return expanded;
}

/** Checks a config against its schema and fills in the defaults.
 *  @param options.name the config's name in errors, such as `the model config` */
export function parseConfig<S extends z.ZodObject>(
  schema: S,
  config: unknown,
  { name }: { name: string },
): z.output<S> {
  const expanded = expandAliases(schema, config, { name });
  const { success, data, error } = schema.safeParse(expanded);
  if (success) return data;
  throw new ConfigError(`Cannot use ${name}: ${describeError(schema, expanded, error.issues)}`);
}

/** Unknown keys come first, because they often cause the other errors. */
function describeError(
  schema: z.ZodObject,
  config: unknown,
  issues: readonly z.core.$ZodIssue[],
): string {
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown !== undefined) return describeUnknown(unknown.keys[0]!, Object.keys(schema.shape));
  const [issue] = issues as [z.core.$ZodIssue];
  if (issue.code === 'custom') return issue.message;
  const [key] = issue.path;
  if (key === undefined) return `it must be an object, got ${show(config)}`;
  const field = configFields(schema).find((other) => other.key === key);
  const value = (config as Readonly<Record<PropertyKey, unknown>>)[key];
  return `${String(key)} must be ${field?.rule}, got ${show(value)}${suggestValue(value, field?.choices)}`;
}

/** The remedy for a value that is not among the allowed ones, if one of them is similar.
 *  @example 'cosin' of ['linear', 'cosine']  →  '; did you mean "cosine"?' */
export function suggestValue(value: unknown, choices: readonly string[] = []): string {
  const nearest = typeof value === 'string' ? nearestName(value, choices) : undefined;
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
}

function describeUnknown(key: string, known: readonly string[]): string {
  const nearest = nearestName(key, known);
  const remedy =
    nearest === undefined ? `it has ${known.join(', ')}` : `did you mean "${nearest}"?`;
  return `it has no "${key}"; ${remedy}`;
}

function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'number') return String(value);
  return stringifyWithoutSecrets(value) ?? String(value);
}

/** The most similar known name, if any is close; ignores case, `-` and `_`.
 *  @example 'hidden_sise' of ['hiddenSize', 'headDim']  →  'hiddenSize' */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const normalized = normalizeName(name);
  const limitOf = (other: string) => MAX_DISTANCE * Math.max(name.length, other.length);
  const near = names
    .map((other) => ({ other, normal: normalizeName(other) }))
    // The distance is at least the difference in length, so long names cost no time.
    .filter(({ other, normal }) => Math.abs(normal.length - normalized.length) <= limitOf(other))
    .map(({ other, normal }) => ({ other, distance: editDistance(normalized, normal) }));
  const least = Math.min(...near.map(({ distance }) => distance));
  const nearest = near.find(({ distance }) => distance === least)?.other;
  return nearest !== undefined && least <= limitOf(nearest) ? nearest : undefined;
}

function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, '');
}

/** Levenshtein distance: how many letters must be inserted, deleted or replaced.
 *  @example 'sitting' and 'kitten'  →  3 */
function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, above[j]! + 1, row[j - 1]! + 1));
    }
    above = row;
  }
  return above[b.length]!;
}
