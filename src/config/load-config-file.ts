import { readFile } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import { createJiti } from 'jiti';
import { isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { configFields } from './config-fields.ts';
import { ConfigError, parseConfig } from './parse-config.ts';
import { placePaths, type RunConfigOptions, runConfigShape } from './run-config.ts';

/** What a file gives, and where. */
interface FileContent {
  readonly values: unknown;
  /** The line of each key, from 1; none where the file is a program. */
  readonly lines: ReadonlyMap<string, number>;
}

/** The values of a config file: YAML, JSON, or TypeScript or JavaScript whose default export they
 *  are. Each is checked by itself; one text stands for a list of one. Relative paths are taken from
 *  the file's folder. */
export async function loadConfigFile(file: string): Promise<Partial<RunConfigOptions>> {
  return loadConfigValues<RunConfigOptions>(file, runConfigShape);
}

/** The same of a config with other keys. */
export async function loadConfigValues<O extends object>(
  file: string,
  shape: z.ZodRawShape,
): Promise<Partial<O>> {
  const schema = z.strictObject(shape).partial();
  const { values, lines } = await readContent(file);
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw new ConfigError(
      `Cannot use ${file}: it must hold keys and values, got ${show(values)}; write lines such as "prompts: prompts.jsonl"`,
    );
  }
  const given = listTexts(values as Readonly<Record<string, unknown>>, schema);
  const line = lines.get(findFaultyKey(given, schema) ?? '');
  parseConfig(schema, given, { name: line === undefined ? file : `${file} line ${line}` });
  return placePaths(given, dirname(file)) as Partial<O>;
}

async function readContent(file: string): Promise<FileContent> {
  const extension = extname(file).toLowerCase();
  if (/^\.(ya?ml|json)$/.test(extension)) return parseText(await readText(file), file);
  if (/^\.[cm]?[tj]s$/.test(extension)) {
    await readText(file);
    return { values: await importDefault(file), lines: new Map() };
  }
  throw new ConfigError(
    `Cannot read the config ${file}: its name must end with .yaml, .yml, .json, .ts or .js, got "${extension}"`,
  );
}

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const got =
      error.code === 'ENOENT'
        ? 'nothing there'
        : error.code === 'EISDIR'
          ? 'a folder'
          : error.message;
    throw new ConfigError(`Cannot read the config ${file}: it must be a file, got ${got}`);
  });
}

/** JSON is YAML too, and so has lines. */
function parseText(text: string, file: string): FileContent {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  const [fault] = document.errors;
  if (fault !== undefined) {
    const { line, col } = counter.linePos(fault.pos[0]);
    throw new ConfigError(`Cannot read ${file} line ${line}, column ${col}: ${fault.message}`);
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
  // Without its cache, nothing is written beside the user's files.
  const jiti = createJiti(path, { fsCache: false });
  try {
    return await jiti.import(path, { default: true });
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(`Cannot load ${file}: ${message.replace(/\s*\n\s*/g, ' ')}`, { cause });
  }
}

/** @example { reward: 'reward.ts' }  →  { reward: ['reward.ts'] } */
function listTexts(
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

/** The key that `parseConfig` complains of. */
function findFaultyKey(values: object, schema: z.ZodObject): string | undefined {
  const { issues = [] } = schema.safeParse(values).error ?? {};
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys');
  return unknown?.keys[0] ?? issues[0]?.path[0]?.toString();
}

function show(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  return Array.isArray(value) ? 'a list' : JSON.stringify(value).slice(0, 40);
}
