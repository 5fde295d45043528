import { readFile } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import { createJiti } from 'jiti';
import { isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { configFields } from './config-fields.ts';
import { aliasesOf, ConfigError, expandAliases, parseConfig } from './parse-config.ts';
import { type RunConfigOptions, resolvePaths, runConfigShape } from './run-config.ts';

/** The values in a file and their lines. */
interface FileContent {
  readonly values: unknown;
  /** The line of each key, from 1; empty if the file is a program. */
  readonly lines: ReadonlyMap<string, number>;
}

/** Loads a config file: YAML, JSON, or the default export of a TypeScript or JavaScript file. Each
 *  value is checked on its own; a string is accepted for a list of one. Relative paths are resolved
 *  against the file's folder. */
export async function loadConfigFile(file: string): Promise<Partial<RunConfigOptions>> {
  return loadConfigValues<RunConfigOptions>(file, runConfigShape);
}

/** Loads a config file with the fields of any schema. */
export async function loadConfigValues<O extends object>(
  file: string,
  shape: z.ZodRawShape,
): Promise<Partial<O>> {
  return checkContent<O>(await readContent(file), { file, shape });
}

/** Where content comes from and what it may contain. */
interface ContentRules {
  readonly file: string;
  /** The fields of the schema. */
  readonly shape: z.ZodRawShape;
}

/** The values of a YAML or JSON config, checked as those of a file. */
export function parseConfigText<O extends object>(text: string, rules: ContentRules): Partial<O> {
  return checkContent<O>(parseText(text, rules.file), rules);
}

const partialSchemas = new WeakMap<z.ZodRawShape, z.ZodObject>();

/** The schema of a config in which every field may be missing. */
function partialSchema(shape: z.ZodRawShape): z.ZodObject {
  const schema = partialSchemas.get(shape) ?? z.strictObject(shape).partial();
  partialSchemas.set(shape, schema);
  return schema;
}

function checkContent<O extends object>(
  { values, lines }: FileContent,
  { file, shape }: ContentRules,
): Partial<O> {
  const schema = partialSchema(shape);
  expectNoCycle(values, file);
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw new ConfigError(
      `Cannot use ${file}: it must contain keys and values, got ${show(values)}; write lines such as "prompts: prompts.jsonl"`,
    );
  }
  const expanded = expandAliases(schema, values, { name: file });
  const listed = wrapStrings(expanded as Readonly<Record<string, unknown>>, schema);
  const invalid = findInvalidKey(listed, schema) ?? '';
  const [alias = invalid] = Object.entries(aliasesOf).find(([, long]) => long === invalid) ?? [];
  const line = lines.get(invalid) ?? lines.get(alias);
  parseConfig(schema, listed, { name: line === undefined ? file : `${file} line ${line}` });
  return resolvePaths(listed, dirname(file)) as Partial<O>;
}

async function readContent(file: string): Promise<FileContent> {
  const extension = extname(file).toLowerCase();
  if (/^\.(ya?ml|json)$/.test(extension)) return parseText(await readText(file), file);
  if (/^\.[cm]?[tj]s$/.test(extension)) {
    await readText(file);
    return { values: await importDefault(file), lines: new Map() };
  }
  throw new ConfigError(
    `Cannot read the config ${file}: its name must end in .yaml, .yml, .json, .ts or .js, got "${extension}"`,
  );
}

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const got =
      error.code === 'ENOENT'
        ? 'no such file'
        : error.code === 'EISDIR'
          ? 'a folder'
          : error.message;
    throw new ConfigError(`Cannot read the config ${file}: it must be a file, got ${got}`);
  });
}

/** Parses YAML; JSON is YAML too. */
function parseText(text: string, file: string): FileContent {
  try {
    return parseYaml(text, file);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    // The parser throws what it does not list, such as unknown aliases.
    const { message } = error as Error;
    throw new ConfigError(`Cannot read ${file}: it must be valid YAML or JSON (${message})`);
  }
}

function parseYaml(text: string, file: string): FileContent {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = counter.linePos(error.pos[0]);
    const isTooDeep = /call stack/.test(error.message);
    const problem = isTooDeep ? 'values must be nested less deeply' : error.message;
    throw new ConfigError(`Cannot read ${file} line ${line}, column ${col}: ${problem}`);
  }
  const lines = new Map<string, number>();
  for (const { key } of isMap(document.contents) ? document.contents.items : []) {
    if (isScalar(key) && key.range)
      lines.set(String(key.value), counter.linePos(key.range[0]).line);
  }
  return { values: document.toJS(), lines };
}

async function importDefault(file: string): Promise<unknown> {
  const path = resolve(file);
  // Without the cache, jiti writes no files next to the user's.
  const jiti = createJiti(path, { fsCache: false });
  try {
    return await jiti.import(path, { default: true });
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(`Cannot load ${file}: ${message.replace(/\s*\n\s*/g, ' ')}`, { cause });
  }
}

/** @example { reward: 'reward.ts' }  →  { reward: ['reward.ts'] } */
function wrapStrings(
  values: Readonly<Record<string, unknown>>,
  schema: z.ZodObject,
): Record<string, unknown> {
  const lists = new Set(
    configFields(schema)
      .filter(({ type }) => type === 'array')
      .map(({ key }) => key),
  );
  const entries = Object.entries(values).map(([key, value]) => [
    key,
    lists.has(key) && typeof value === 'string' ? [value] : value,
  ]);
  return Object.fromEntries(entries);
}

/** The key that `parseConfig` reports. */
function findInvalidKey(values: object, schema: z.ZodObject): string | undefined {
  const { issues = [] } = schema.safeParse(values).error ?? {};
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys');
  return unknown?.keys[0] ?? issues[0]?.path[0]?.toString();
}

/** An alias of YAML may refer to a list or map that contains it. */
function expectNoCycle(values: unknown, file: string): void {
  try {
    JSON.stringify(values);
  } catch (error) {
    if (!/circular/i.test((error as Error).message)) return;
    throw new ConfigError(
      `Cannot use ${file}: a value must not contain itself, got one that does; remove the alias (*) or reference`,
    );
  }
}

function show(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  return Array.isArray(value) ? 'a list' : JSON.stringify(value).slice(0, 40);
}
