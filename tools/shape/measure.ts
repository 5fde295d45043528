/**
 * Measures the shape of a checkout, and compares two measurements.
 *
 *   npx tsx tools/shape/measure.ts --tree DIR --json OUT [--test-report FILE]
 *   npx tsx tools/shape/measure.ts --compare BEFORE.json AFTER.json
 *
 * The report of tests comes from `npx vitest run --reporter=json --outputFile=FILE`.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  countLines,
  findRepeatedLines,
  isTest,
  type RepeatedPair,
  readSourceFiles,
} from './source-files.ts';
import {
  countExports,
  type EntryExports,
  findPatterns,
  type PatternPlaces,
  patternMeanings,
} from './static-counts.ts';
import { type FirstTokenTrace, type StepTrace, traceFirstToken, traceStep } from './trace.ts';

interface Shape {
  readonly files: number;
  readonly medianLines: number;
  readonly meanLines: number;
  readonly longest: { readonly path: string; readonly lines: number };
  readonly longestTest: { readonly path: string; readonly lines: number };
  readonly firstToken: FirstTokenTrace;
  readonly step: StepTrace;
  readonly patterns: PatternPlaces;
  readonly exports: Readonly<Record<string, EntryExports>>;
  readonly repeated: {
    readonly src: readonly RepeatedPair[];
    readonly all: readonly RepeatedPair[];
  };
  readonly testSeconds: number | null;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tree: { type: 'string' },
    json: { type: 'string' },
    'test-report': { type: 'string' },
    compare: { type: 'boolean', default: false },
  },
});

if (values.compare) {
  const [before, after] = positionals.map(
    (path) => JSON.parse(readFileSync(path, 'utf8')) as Shape,
  );
  if (before === undefined || after === undefined) {
    throw new Error('Cannot compare: --compare needs two files, BEFORE.json and AFTER.json');
  }
  console.log(formatTable(before, after));
} else {
  const shape = measure(resolve(values.tree ?? '.'));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(shape, null, 2)}\n`);
  console.log(formatPlaces(shape));
}

function measure(tree: string): Shape {
  const all = ['src', 'test', 'bench', 'tools', 'examples'].flatMap((folder) =>
    existsSync(join(tree, folder)) ? readSourceFiles(tree, folder) : [],
  );
  const sources = all.filter((file) => file.path.startsWith('src/') && !isTest(file));
  const lengths = sources.map(countLines).sort((a, b) => a - b);
  return {
    files: sources.length,
    medianLines: lengths[lengths.length >> 1]!,
    meanLines: Math.round(lengths.reduce((sum, length) => sum + length, 0) / lengths.length),
    longest: findLongest(sources),
    longestTest: findLongest(all.filter(isTest)),
    firstToken: traceFirstToken(tree),
    step: traceStep(tree),
    patterns: findPatterns(sources),
    exports: countExports(tree),
    repeated: { src: findRepeatedLines(sources), all: findRepeatedLines(all) },
    testSeconds: readTestSeconds(values['test-report']),
  };
}

function findLongest(files: Parameters<typeof countLines>[0][]): Shape['longest'] {
  const lengths = files.map((file) => ({ path: file.path, lines: countLines(file) }));
  return lengths.sort((a, b) => b.lines - a.lines)[0]!;
}

/** From the start of the first test file to the end of the last one. */
function readTestSeconds(path: string | undefined): number | null {
  if (path === undefined) return null;
  const report = JSON.parse(readFileSync(path, 'utf8')) as {
    startTime: number;
    testResults: readonly { endTime: number }[];
  };
  const end = Math.max(...report.testResults.map(({ endTime }) => endTime));
  return Math.round((end - report.startTime) / 1000);
}

/** Rows of the table: what is measured, and the number of a shape. */
function rowsOf(shape: Shape): [string, string][] {
  const { firstToken, step, patterns, repeated } = shape;
  const filesOf = (frames: FirstTokenTrace['frames']) =>
    new Set(frames.map(({ file }) => file)).size;
  return [
    ['source files (`src`, without tests)', `${shape.files}`],
    ['lines of a source file, median (mean)', `${shape.medianLines} (${shape.meanLines})`],
    ['longest source file', `${shape.longest.lines}: ${shape.longest.path}`],
    ['longest test file', `${shape.longestTest.lines}: ${shape.longestTest.path}`],
    [
      'frames (files) on the call stack from `proximal train` to the first token',
      `${firstToken.frames.length} (${filesOf(firstToken.frames)})`,
    ],
    [
      'functions (files) that run from `proximal train` to the first token',
      `${firstToken.functions} (${firstToken.files.length})`,
    ],
    ['functions (files) that one PPO step runs', `${step.functions} (${step.files.length})`],
    ['layer loops', `${patterns.layerLoops.length}`],
    ['train loops', `${patterns.trainLoops.length}`],
    ['state-to-row mappings', `${patterns.stateToRowMappings.length}`],
    ['generate-and-gather loops', `${patterns.generateAndGatherLoops.length}`],
    ...Object.entries(shape.exports).map(([entry, counts]): [string, string] => [
      `exports of \`${entry.replace('.', 'proximal')}\`: values, types (in namespaces)`,
      `${counts.values}, ${counts.types} (${counts.inNamespaces})`,
    ]),
    [
      'pairs of places that repeat ≥ 6 lines: `src` (all code)',
      `${repeated.src.length} (${repeated.all.length})`,
    ],
    ['seconds of `npm test`', shape.testSeconds === null ? 'not measured' : `${shape.testSeconds}`],
  ];
}

function formatTable(before: Shape, after: Shape): string {
  const [old, now] = [new Map(rowsOf(before)), new Map(rowsOf(after))];
  const names = new Set([...now.keys(), ...old.keys()]);
  const rows = [...names].map(
    (name) => `| ${name} | ${old.get(name) ?? '–'} | ${now.get(name) ?? '–'} |`,
  );
  return ['| | before | after |', '| --- | --- | --- |', ...rows].join('\n');
}

/** All numbers, then the places behind them, so that a reader can check the counts. */
function formatPlaces(shape: Shape): string {
  const list = (places: readonly string[]) => places.map((place) => `  ${place}`);
  const patterns = Object.entries(shape.patterns) as [keyof PatternPlaces, readonly string[]][];
  return [
    ...rowsOf(shape).map(([name, value]) => `${name}: ${value}`),
    ...patterns.flatMap(([name, places]) => [
      `\n${name}: ${patternMeanings[name]}`,
      ...list(places),
    ]),
    '\nstack at the first token:',
    ...list(shape.firstToken.frames.map(({ file, name }) => `${file} ${name}`)),
    '\nfiles that one PPO step runs:',
    ...list(shape.step.files),
    '\nrepeated lines:',
    ...list(shape.repeated.all.map((pair) => pair.join(' = '))),
  ].join('\n');
}
