import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runInProcess } from '../../test/helpers/run-cli.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { pairRows, writeRows } from '../../test/helpers/stage-setup.ts';
import { LabelStore } from '../dashboard/labels/label-store.ts';
import { formatQueues } from './labels.ts';

describe('proximal labels', () => {
  test('creates a queue, lists it and exports its answers', async () => {
    const folder = makeTempFolder();
    const labels = join(folder, 'labels');
    const file = writeRows(folder, 'rows.jsonl', pairRows());
    const flags = ['--labels', labels, '--name', 'Cats?', '--limit', '2', '--json'];
    const created = await runInProcess('labels', 'create', ...flags, '--file', file);
    expect(created.stderr).toBe('');
    const { id, total } = JSON.parse(created.stdout);
    expect(total).toBe(2);
    const answer = { kind: 'pair', choice: 'tie' } as const;
    await new LabelStore({ folder: labels }).answer(id, { task: '1', labeller: 'Ada', answer });
    const listed = await runInProcess('labels', '--labels', labels);
    expect(listed.stdout).toContain(`${id}  Cats?  pair    1 of 2`);
    const output = join(folder, 'export.jsonl');
    const written = await runInProcess(
      'labels',
      'export',
      id,
      '--labels',
      labels,
      '--output',
      output,
    );
    expect(written).toEqual({ status: 0, stdout: `Wrote 1 row to ${output}\n`, stderr: '' });
    expect(JSON.parse(readFileSync(output, 'utf8'))).toMatchObject({ label: 'tie' });
    const exportTo = async (path: string) =>
      (await runInProcess('labels', 'export', id, '--labels', labels, '--output', path)).stderr;
    expect(await exportTo(output)).toBe(
      `Cannot write ${output}: it must not exist, got a file; choose another name\n`,
    );
    const nowhere = join(folder, 'none', 'export.jsonl');
    expect(await exportTo(nowhere)).toBe(
      `Cannot write ${nowhere}: its folder must exist, got no such folder; create it or choose another path\n`,
    );
  });

  test('requires exactly one source', async () => {
    const folder = join(makeTempFolder(), 'labels');
    const create = (...flags: string[]) =>
      runInProcess('labels', 'create', '--labels', folder, ...flags);
    const two = await create('--name', 'x', '--run', 'a', '--file', 'b');
    expect(two).toEqual({
      ...{ status: 2, stdout: '' },
      stderr:
        'Cannot create a queue: exactly one of --compare, --run, --file and --model is required, got --run and --file\n',
    });
    expect(existsSync(folder)).toBe(false);
  });
});

const queue = {
  id: 'good-3f9a2c',
  name: 'Good',
  kind: 'pair',
  question: 'Which response is better?',
  live: false,
  run: null,
  next: [],
  total: 10,
  answered: 3,
  labellers: [
    { name: 'Ada', answers: 3 },
    { name: 'Bob', answers: 3 },
  ],
  agreement: 2 / 3,
  alpha: 4 / 9,
} as const;

test('formatQueues() prints a line per queue', () => {
  expect(formatQueues([queue], 'labels')).toBe(
    [
      '  id           name  kind  answered  agreement  alpha  by',
      '  good-3f9a2c  Good  pair   3 of 10       67 %   0.44  Ada 3, Bob 3',
    ].join('\n'),
  );
});

test('formatQueues() removes control characters', () => {
  const hostile = {
    ...queue,
    name: '\u001b[31mred\u202e',
    labellers: [{ name: 'a\rb', answers: 1 }],
  };
  const text = formatQueues([{ ...hostile, agreement: null, alpha: null }], 'labels');
  expect(text).toContain('[31mred');
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test('formatQueues() says how to create the first queue', () => {
  expect(formatQueues([], 'my-labels')).toBe(
    'No queues in my-labels; create one with "proximal labels create"',
  );
});
