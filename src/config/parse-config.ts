import type { z } from 'zod';
import { configFields } from './config-fields.ts';
import { nearestName } from './nearest-name.ts';

/** A config that cannot be used. Its message is one sentence about the first fault. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Checks a config by its schema and fills in the defaults.
 *  @param options.name what the config is called in errors, such as `the model config` */
export function parseConfig<S extends z.ZodObject>(
  schema: S,
  config: unknown,
  { name }: { name: string },
): z.output<S> {
  const { success, data, error } = schema.safeParse(config);
  if (success) return data;
  throw new ConfigError(`Cannot use ${name}: ${describeFault(schema, config, error.issues)}`);
}

/** Unknown keys come first: what is wrong about the others may follow from them. */
function describeFault(
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
  return `${String(key)} must be ${field?.rule}, got ${show(value)}`;
}

function describeUnknown(key: string, known: readonly string[]): string {
  const nearest = nearestName(key, known);
  const remedy =
    nearest === undefined ? `it has ${known.join(', ')}` : `did you mean "${nearest}"?`;
  return `it has no "${key}"; ${remedy}`;
}

function show(value: unknown): string {
  return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value));
}
