import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { LabelQueue, LabelTask, ReportData } from '../../src/dashboard/api.ts';
import type { ComparisonResult } from '../../src/dashboard/labels/label-store.ts';
import type { StoredTask } from '../../src/dashboard/labels/queue-schema.ts';
import { resumeRun, trainRun } from '../../src/run/train-run.ts';
import { ask, askJson, post, startTestDashboard } from '../helpers/dashboard-server.ts';
import { runInProcess } from '../helpers/run-cli.ts';
import { readLog } from '../helpers/stage-setup.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let folder: string;
const at = (...names: string[]) => join(folder, ...names);
const course = () => ({
  ...{ modelName: at('model'), prompts: at('prompts.jsonl'), reward: [at('reward.ts')] },
  ...{ maxNewTokens: 6, maxSteps: 3, batchSize: 4, learningRate: 1e-2, validationFraction: 0.7 },
});
const create = (...flags: string[]) =>
  runInProcess('labels', 'create', '--labels', at('labels'), ...flags);
const readTasks = (queue: string): StoredTask[] =>
  readFileSync(at('labels', queue, 'tasks.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

beforeAll(async () => {
  folder = await makeTrainFolder();
  await trainRun({ ...course(), output: at('runs', 'a') });
  await trainRun({ ...course(), output: at('runs', 'b'), seed: 1 });
});

describe('a human evaluation', () => {
  test('turns a run into a blind queue, and its labels into results, summary and report', async () => {
    const created = await create('--compare', at('runs', 'a'), '--json');
    expect({ ...created, stdout: '' }).toEqual({ status: 0, stdout: '', stderr: '' });
    const queue: LabelQueue = JSON.parse(created.stdout);
    expect(queue).toMatchObject({
      ...{ name: 'a against its reference', kind: 'pair', live: false },
      question: 'Which response is better?',
    });
    const tasks = readTasks(queue.id);
    expect(queue.total).toBe(tasks.length);
    const dashboard = await startTestDashboard({
      ...{ folders: [at('runs')], labels: at('labels') },
    });
    const path = `/api/labels/${queue.id}`;

    // Ada always prefers the policy, Bob always the reference.
    const prefer = { Ada: 'policy', Bob: 'other' } as const;
    for (const [labeller, side] of Object.entries(prefer)) {
      for (let i = 0; i < tasks.length; i++) {
        const response = await ask(dashboard, `${path}/next?labeller=${labeller}`);
        // Nothing in the response says which side is which.
        const shown: LabelTask = JSON.parse(response.body);
        expect(Object.keys(shown).toSorted()).toEqual(['id', 'kind', 'prompt', 'responses']);
        const stored = tasks.find(({ id }) => id === shown.id)!;
        expect(shown.responses.toSorted()).toEqual(stored.responses.map((r) => r.text).toSorted());
        const best = stored.responses.find(({ from }) => from.side === side)!.text;
        const choice = shown.responses.indexOf(best);
        const answer = { task: shown.id, labeller, answer: { kind: 'pair', choice } };
        const { status, body } = await post(dashboard, `${path}/answers`, answer);
        expect(status).toBe(200);
        expect(body).not.toMatch(/policy"|side/);
        const rows = readLog(at('runs', 'a'), 'evaluations.jsonl');
        const human = rows.flatMap((row) => ('human' in row ? [row.human] : []));
        // Results appear when Ada completes the queue, and again when Bob does.
        const finished = (labeller === 'Bob' ? 1 : 0) + (i === tasks.length - 1 ? 1 : 0);
        expect(human).toHaveLength(finished);
      }
    }
    expect(dashboard.errors).toEqual([]);

    const results = await runInProcess(
      ...['labels', 'results', queue.id, '--labels', at('labels'), '--json'],
    );
    const result: ComparisonResult = JSON.parse(results.stdout);
    const { prompts, equal } = result;
    expect(prompts).toBe(tasks.length + equal);
    expect(result).toMatchObject({ step: 3, against: 'reference', isRecorded: false });
    expect(result.human).toMatchObject({
      // One vote for each side is a tie.
      ...{ winRate: 0.5, wins: 0, losses: 0, ties: prompts, judged: prompts, labellers: 2 },
      ...{ answers: 2 * tasks.length, agreement: 0 },
    });
    const shown = await runInProcess('labels', 'results', queue.id, '--labels', at('labels'));
    expect(shown.stdout).toMatch(/win rate +50\.0 % \(95 % interval \d+\.\d % to \d+\.\d %\)/);
    expect(shown.stdout).toContain('Fewer than 20 prompts are judged');

    const report = at('a.html');
    await runInProcess('report', at('runs', 'a'), '--output', report);
    const html = readFileSync(report, 'utf8');
    const json = /id="proximal-report">([^<]*)</.exec(html)![1]!;
    const data: ReportData = JSON.parse(json);
    expect(data.evaluations.at(-1)).toMatchObject({ step: 3, human: { winRate: 0.5 } });
  });

  test('does not change the first and last evaluation of a resumed run', async () => {
    const { evaluations } = await resumeRun(at('runs', 'a'));
    expect([evaluations!.first.step, evaluations!.last.step]).toEqual([0, 3]);
    expect(evaluations!.last.metrics['eval/win_rate']).toBeTypeOf('number');
    const rows = readLog(at('runs', 'a'), 'evaluations.jsonl');
    expect(rows.some((row) => 'human' in row)).toBe(true);
    const compared = await runInProcess('runs', 'compare', at('runs', 'a'), at('runs', 'b'));
    expect(compared.stdout).toMatch(/Last evaluation[\s\S]*winRate/);
  });

  test('compares two runs, and the same seed creates the same tasks', async () => {
    const flags = ['--compare', at('runs', 'a'), '--against', at('runs', 'b'), '--kind', 'rating'];
    const createWith = async (seed: string): Promise<LabelQueue> =>
      JSON.parse((await create(...flags, '--limit', '4', '--seed', seed, '--json')).stdout);
    const [first, second] = [await createWith('5'), await createWith('5')];
    const other = await createWith('6');
    const header = JSON.parse(readFileSync(at('labels', first.id, 'queue.json'), 'utf8'));
    expect(header).toMatchObject({ name: 'a against b', compare: { against: 'b', prompts: 4 } });
    expect(first.total).toBe(2 * (4 - header.compare.equal));
    expect(readTasks(second.id)).toEqual(readTasks(first.id));
    expect(readTasks(other.id)).not.toEqual(readTasks(first.id));
  });

  test('reports invalid flags', async () => {
    const run = at('runs', 'a');
    const rank = await create('--compare', run, '--kind', 'ranking');
    expect(rank).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        /^Cannot create the queue: a comparison has pairs or ratings of two responses, got kind ranking; .*\n$/,
      ),
    });
    const missing = await create('--compare', at('runs', 'none'));
    expect(missing.stderr).toMatch(/^Cannot compare .*none: it must be the folder of a run/);
    const twice = await create('--compare', run, '--against', run);
    expect(twice.stderr).toMatch(/the runs must be different, got a twice/);
    const alone = await create('--run', run, '--against', at('runs', 'b'));
    expect(alone).toMatchObject({
      status: 2,
      stderr:
        'Cannot create a queue: --against requires --compare, got --run; name the run to compare with --compare\n',
    });
  });

  test('reports that there are no results yet, and why other queues have none', async () => {
    const { id } = JSON.parse((await create('--compare', at('runs', 'b'), '--json')).stdout);
    const results = (queue: string) =>
      runInProcess('labels', 'results', queue, '--labels', at('labels'));
    expect(await results(id)).toMatchObject({
      status: 1,
      stderr: `Cannot show the results of ${id}: people must have judged at least one prompt, got none; label it on the dashboard's Label page\n`,
    });
    const sampled = await create('--run', at('runs', 'a'), '--kind', 'rating', '--json');
    const other = JSON.parse(sampled.stdout);
    expect((await results(other.id)).stderr).toMatch(/it must be a comparison, got another queue/);
  });
});

test('an error about a queue without two responses per prompt names alternatives', async () => {
  const run = at('runs', 'c');
  await trainRun({ ...course(), output: run, maxSteps: 1, saveInterval: 0 });
  expect((await create('--run', run)).stderr).toMatch(
    /^Cannot create the queue: its source must have 2 different responses to one prompt, but has none among \d prompts; rate its samples from 1 to 5, or compare its policy with the reference\n$/,
  );
  rmSync(run, { recursive: true });
  expect(readdirSync(at('runs'))).toEqual(['a', 'b']);
});

test('the queues of the page never reveal where responses come from', async () => {
  const dashboard = await startTestDashboard({
    ...{ folders: [at('runs')], labels: at('labels') },
  });
  const { body } = await ask(dashboard, '/api/labels');
  const queues: LabelQueue[] = JSON.parse(body);
  expect(queues.length).toBeGreaterThan(3);
  expect(body).not.toMatch(/"side"|"other"|"responses"/);
  const runs = await askJson<{ id: string; name: string }[]>(dashboard, '/api/runs');
  const compared = queues.find(({ name }) => name === 'a against its reference')!;
  expect(compared.run).toBe(runs.find(({ name }) => name === 'a')!.id);
});
