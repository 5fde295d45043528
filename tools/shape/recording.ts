/** What a run wrote, in a form in which two checkouts can be compared. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

type Primitive = string | number | boolean | null;

/** Values of one field in all records of a file; undefined if a record lacks it. */
type Column = readonly (Primitive | undefined)[];

/** Columns of one file by field. */
type Columns = Readonly<Record<string, Column>>;

export interface Recording {
  /** Record files by name. */
  readonly records: Readonly<Record<string, Columns>>;
  /** SHA-256 of each weight file by path. */
  readonly weights: Readonly<Record<string, string>>;
}

/** Recordings of all cases of a checkout, with what they depend on. */
export interface Recordings {
  readonly processor: string;
  readonly node: string;
  readonly cases: Readonly<Record<string, Recording>>;
}

export interface Comparison {
  /** Values and weight files that are equal. */
  readonly equal: number;
  /** Fields that moved to another name with equal values: `file: old → new`. */
  readonly renamed: readonly string[];
  readonly added: number;
  readonly differences: readonly string[];
}

/** Contains only wording and times. */
const LOG_FILE = 'log.jsonl';

/** Fields that depend on time, memory or wording. */
const VOLATILE = /(^|\.)(timing\/|perf\/|time$|message$)/;

/** Reads a run folder. */
export function readRecording(folder: string): Recording {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl') && name !== LOG_FILE)
    .sort();
  const weights = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.safetensors'))
    .sort();
  return {
    records: Object.fromEntries(
      files.map((name) => [name, toColumns(readFileSync(join(folder, name), 'utf8'))]),
    ),
    weights: Object.fromEntries(
      weights.map((path) => [path, sha256(readFileSync(join(folder, path)))]),
    ),
  };
}

/** Compares values strictly and names leniently: a field of the old run must exist in the new one,
 *  under its name or under a new name with the same values. */
export function compareRecordings(before: Recording, after: Recording): Comparison {
  const parts = [
    ...Object.entries(before.records).map(([file, columns]) =>
      compareNamed(file, columns, after.records[file] ?? {}),
    ),
    compareNamed('weights', wrap(before.weights), wrap(after.weights)),
  ];
  return {
    equal: parts.reduce((sum, { equal }) => sum + equal, 0),
    added: parts.reduce((sum, { added }) => sum + added, 0),
    renamed: parts.flatMap(({ renamed }) => renamed),
    differences: parts.flatMap(({ differences }) => differences),
  };
}

function compareNamed(file: string, before: Columns, after: Columns): Comparison {
  const fresh = new Set(Object.keys(after).filter((name) => !(name in before)));
  const renamed: string[] = [];
  const differences: string[] = [];
  let equal = 0;
  for (const [name, column] of Object.entries(before)) {
    const other = name in after ? name : findEqual(column, after, fresh);
    const found = other === undefined ? undefined : after[other];
    const difference = found === undefined ? 'missing' : firstDifference(column, found);
    if (difference !== undefined) differences.push(`${file}: ${name}: ${difference}`);
    else equal += column.length;
    if (other === undefined || other === name) continue;
    fresh.delete(other);
    renamed.push(`${file}: ${name} → ${other}`);
  }
  return { equal, renamed, differences, added: fresh.size };
}

function findEqual(column: Column, after: Columns, names: Iterable<string>): string | undefined {
  return [...names].find((name) => firstDifference(column, after[name]!) === undefined);
}

function firstDifference(before: Column, after: Column): string | undefined {
  if (before.length !== after.length) return `${before.length} records → ${after.length} records`;
  const place = before.findIndex(
    (value, i) => !Object.is(value ?? undefined, after[i] ?? undefined),
  );
  return place < 0 ? undefined : `record ${place}: ${show(before[place])} → ${show(after[place])}`;
}

function show(value: Primitive | undefined): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** Columns of a JSON Lines file; nested fields are joined by dots, as `performance.reward`. */
function toColumns(text: string): Columns {
  const rows = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => new Map(flatten(JSON.parse(line), '')));
  const names = new Set(rows.flatMap((row) => [...row.keys()]));
  return Object.fromEntries(
    [...names]
      .filter((name) => !VOLATILE.test(name))
      .map((name) => [name, rows.map((row) => row.get(name))]),
  );
}

/** Leaves of a record; a list of numbers or texts is one leaf. */
function flatten(value: unknown, path: string): [string, Primitive][] {
  if (value === null || typeof value !== 'object') return [[path, value as Primitive]];
  const isLeaf =
    Array.isArray(value) && value.every((item) => item === null || typeof item !== 'object');
  if (isLeaf) return [[path, JSON.stringify(value)]];
  return Object.entries(value).flatMap(([key, item]) =>
    flatten(item, path === '' ? key : `${path}.${key}`),
  );
}

function wrap(hashes: Readonly<Record<string, string>>): Columns {
  return Object.fromEntries(Object.entries(hashes).map(([path, hash]) => [path, [hash]]));
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
