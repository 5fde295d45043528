/**
 * Runs the same tiny seeded trainings in two checkouts and compares what they wrote, bit for bit:
 * metrics, samples, tokens, evaluations and adapters. Times, memory and messages do not count.
 *
 *   npx tsx tools/shape/same-run.ts --before DIR --after DIR [--only TEXT]
 *   npx tsx tools/shape/same-run.ts --before DIR --save FILE
 *   npx tsx tools/shape/same-run.ts --against FILE --after DIR
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Comparison, compareRecordings, type Recordings, readRecording } from './recording.ts';
import { chooseCases, runCli, writeInputs } from './run-cases.ts';

const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    after: { type: 'string' },
    against: { type: 'string' },
    save: { type: 'string' },
    only: { type: 'string', default: '' },
    model: { type: 'string', default: fileURLToPath(new URL('../../embedded', import.meta.url)) },
  },
});

const before = readBefore();
if (values.save !== undefined) writeFileSync(values.save, JSON.stringify(before));
if (values.after !== undefined) report(before, record(values.after));

function readBefore(): Recordings {
  if (values.against !== undefined) return JSON.parse(readFileSync(values.against, 'utf8'));
  if (values.before !== undefined) return record(values.before);
  throw new Error('Cannot compare runs: pass --before DIR or --against FILE');
}

/** Runs all chosen cases in a checkout. A case may read the run of an earlier one. */
function record(tree: string): Recordings {
  const folder = mkdtempSync(join(tmpdir(), 'same-run-'));
  const outputOf = (name: string) => join(folder, name.replaceAll(/[^a-z0-9]+/g, '-'));
  try {
    const inputs = writeInputs(join(folder, 'inputs'), resolve(values.model));
    const cases = chooseCases(values.only).map(({ name, args }) => {
      console.error(`${tree}: ${name}`);
      runCli(resolve(tree), [...args(inputs, outputOf), '--output', outputOf(name)]);
      return [name, readRecording(outputOf(name))] as const;
    });
    return { ...describeMachine(), cases: Object.fromEntries(cases) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function describeMachine(): Pick<Recordings, 'processor' | 'node'> {
  return { processor: cpus()[0]?.model ?? 'unknown', node: process.version };
}

function report(old: Recordings, now: Recordings): void {
  for (const key of ['processor', 'node'] as const) {
    if (old[key] !== now[key]) console.log(`Warning: ${key} differs: ${old[key]} → ${now[key]}\n`);
  }
  const compared = Object.entries(now.cases).flatMap(([name, recording]) => {
    const reference = old.cases[name];
    return reference === undefined ? [] : [{ name, ...compareRecordings(reference, recording) }];
  });
  console.log('| run | result | equal values | new fields | first difference |');
  console.log('| --- | --- | ---: | ---: | --- |');
  for (const row of compared) console.log(formatRow(row));
  const renamed = new Set(compared.flatMap((row) => row.renamed));
  if (renamed.size > 0) console.log(`\nRenamed, same values:\n${[...renamed].join('\n')}`);
  for (const { name, differences } of compared) {
    if (differences.length > 0) console.log(`\n${name}:\n${differences.join('\n')}`);
  }
  if (compared.some(({ differences }) => differences.length > 0)) process.exitCode = 1;
}

function formatRow({ name, equal, added, differences }: Comparison & { name: string }): string {
  const result = differences.length === 0 ? 'equal' : `${differences.length} fields differ`;
  return `| ${[name, result, equal, added, differences[0] ?? ''].join(' | ')} |`;
}
