import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { TrainEvent } from '../../src/loop/events.ts';
import { appendHumanScore, readHumanRequests } from '../../src/run/human-scores.ts';
import { requestControl } from '../../src/run/run-control.ts';
import { runInProcess } from '../helpers/run-cli.ts';
import { readLog } from '../helpers/stage-setup.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';
import { startWatched } from '../helpers/watched-run.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let folder: string;
const at = (name: string) => join(folder, name);
const start = (output: string) => [
  ...['train', '--config', at('train.yaml'), '--output', output, '--reward', 'human'],
  ...['--batch-size', '2', '--max-steps', '2', '--json'],
  // Too short for people: it must not apply to them.
  ...['--reward-timeout', '0.001'],
];
const messageOf = (run: string): string =>
  JSON.parse(readFileSync(join(run, 'run.json'), 'utf8')).message;
const isWaiting = (event: TrainEvent) => event.type === 'control' && event.status === 'waiting';
const waitingOf = async (run: string) =>
  (await readHumanRequests(run)).filter((request) => request.isWaiting);
const waitsFor = (scores: string) => `Waiting for ${scores} on the Label page`;

beforeAll(async () => {
  folder = await makeTrainFolder();
});

describe('proximal train --reward human', () => {
  test('waits for people, keeps their scores after kill -9 and trains on them', async () => {
    const output = at('human');
    const run = startWatched(...start(output));
    const warning = await run.until(({ type }) => type === 'warning');
    expect(warning).toMatchObject({
      message: expect.stringMatching(/^There will be no evaluations: /),
    });
    const first = await run.until(isWaiting);
    expect(first).toMatchObject({ step: 0, message: waitsFor('2 human scores') });
    const [a, b] = await waitingOf(output);
    await appendHumanScore(output, { request: a!.id, score: 1, labeller: 'Ada' });
    await expect.poll(() => messageOf(output), { timeout: 20_000 }).toBe(waitsFor('1 human score'));
    await appendHumanScore(output, { request: a!.id, score: 0, labeller: 'Bob' });
    await appendHumanScore(output, { request: b!.id, score: -1, labeller: 'Ada' });
    const step = await run.until(({ type }) => type === 'step');
    // (1 + 0)/2 and −1.
    expect(step).toMatchObject({ step: 1, metrics: { 'rewards/human/mean': -0.25 } });

    await run.until(isWaiting);
    const [c] = await waitingOf(output);
    expect(c).toMatchObject({ step: 2 });
    await appendHumanScore(output, { request: c!.id, score: 0.5, labeller: 'Ada' });
    run.child.kill('SIGKILL');
    await run.ended;
    // No checkpoint was saved, so the run starts again; only one response has no score.
    const again = startWatched('train', '--resume', output, '--json');
    const still = await again.until(isWaiting);
    expect(still).toMatchObject({ step: 1, message: waitsFor('1 human score') });
    const left = await waitingOf(output);
    const other = left.find(({ id }) => id !== c!.id)!;
    await appendHumanScore(output, { request: other.id, score: 1, labeller: 'Ada' });
    expect((await again.ended).status).toBe(0);
    const means = readLog(output, 'metrics.jsonl').map(
      (line) => (line as Record<string, number>)['rewards/human/mean'],
    );
    expect(means).toEqual([-0.25, 0.75]);
    expect(await waitingOf(output)).toEqual([]);
    expect(await readHumanRequests(output)).toHaveLength(4);

    const evaluated = await runInProcess('evaluate', '--adapter', output);
    expect(evaluated).toMatchObject({ status: 1, stdout: '' });
    expect(evaluated.stderr).toMatch(
      /^Found a run in .*\nCannot evaluate with the reward human alone: people score training responses only, .*\n$/,
    );
  });

  test('prints the address of the Label page that it serves, or how to open it', async () => {
    const flags = (name: string) => start(at(name)).filter((flag) => flag !== '--json');
    const served = startWatched(...flags('served'), '--dashboard', '0');
    await served.untilText(
      /Waiting for 2 human scores on the Label page: http:\/\/127\.0\.0\.1:\d+\/#\/label\n/,
    );
    served.child.kill('SIGINT');
    expect((await served.ended).status).toBe(130);
    const alone = startWatched(...flags('alone'));
    await alone.untilText(/on the Label page: open it with .*proximal.* dashboard \S+\n/);
    alone.child.kill('SIGINT');
    expect((await alone.ended).status).toBe(130);
  });

  test('stops cleanly while it waits, on request and on Ctrl-C', async () => {
    const output = at('stopped');
    const run = startWatched(...start(output));
    await run.until(isWaiting);
    await requestControl(output, 'stop');
    const { status, stdout } = await run.ended;
    expect(status).toBe(130);
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1)!)).toMatchObject({
      ...{ type: 'result', steps: 0, reason: 'interrupted' },
      message: 'The run was stopped on request and can be resumed',
    });
    const again = startWatched('train', '--resume', output, '--json');
    await again.until(isWaiting);
    again.child.kill('SIGINT');
    expect((await again.ended).status).toBe(130);
    expect(messageOf(output)).toBe('The run was interrupted and can be resumed');
    expect(await waitingOf(output)).toHaveLength(2);
  });
});
