import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { makeCalculatorModel, saveCalculatorModel } from '../../bench/tools/calculator-model.ts';
import { runCli, runInProcess } from '../helpers/run-cli.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 });

let folder: string;
const at = (name: string) => join(folder, name);

/** Answers with a random number, and kills its process once, at its sixth call, if told so. */
const environment = `import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { multiTurn } from 'proximal';

const calls = new URL('./calls.txt', import.meta.url);
const armed = new URL('./kill', import.meta.url);
export default multiTurn(({ messages, turn, row }) => {
  appendFileSync(calls, 'x');
  const count = readFileSync(calls, 'utf8').length;
  if (existsSync(armed) && readFileSync(armed, 'utf8') === 'armed' && count === 6) {
    writeFileSync(armed, 'done');
    process.kill(process.pid, 'SIGKILL');
  }
  const text = String(messages.at(-1)!.content);
  return {
    reward: text.length / 10,
    messages: [{ role: 'user', content: 'n' + text.length + row.prompt }],
  };
}, { maxTurns: 2 });
`;

function args(output: string): string[] {
  const data = ['--model', at('model'), '--prompts', at('prompts.jsonl'), '--output', at(output)];
  const sizes = ['--max-new-tokens', '8', '--batch-size', '2', '--max-steps', '4', '--stop', 'a'];
  const rest = ['--validation-fraction', '0', '--save-interval', '1', '--num-epochs', '2'];
  return ['train', ...data, ...sizes, ...rest, '--environment', at('environment.ts')];
}

const weights = (run: string) => readFileSync(join(at(run), 'model/adapter_model.safetensors'));
const answers = (run: string) =>
  readFileSync(join(at(run), 'answers.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'proximal-'));
  const { base } = makeCalculatorModel(1);
  await saveCalculatorModel(at('model'), base);
  await base.dispose();
  const prompts = ['12*34', '56*78', '11*11', '90*12'].map((prompt) => JSON.stringify({ prompt }));
  writeFileSync(at('prompts.jsonl'), `${prompts.join('\n')}\n`);
  writeFileSync(at('environment.ts'), environment);
});

afterAll(() => rmSync(folder, { recursive: true }));

describe('proximal train --environment', () => {
  test('killed with kill -9 in the middle of an episode and resumed ends with the same bytes', async () => {
    const whole = await runCli(...args('whole'));
    expect(whole.status, whole.stderr).toBe(0);
    writeFileSync(at('calls.txt'), '');
    writeFileSync(at('kill'), 'armed');
    const killed = await runCli(...args('killed'));
    expect(killed.status).toBe(null);
    expect(readFileSync(at('kill'), 'utf8')).toBe('done');
    const resumed = await runCli('train', '--resume', at('killed'));
    expect(resumed.status, resumed.stderr).toBe(0);
    expect(weights('killed')).toEqual(weights('whole'));
    expect(answers('killed')).toEqual(answers('whole'));
    // Only calls that were in flight, at most one per prompt of the step, are made again.
    const repeated = readFileSync(at('calls.txt'), 'utf8').length - answers('whole').length;
    expect(repeated).toBeGreaterThan(0);
    expect(repeated).toBeLessThanOrEqual(2);
  });

  test('needs consent to run the environment of a folder that somebody else made', async () => {
    const run = await runInProcess(...args('trusted'));
    expect(run.status, run.stderr).toBe(0);
    writeFileSync(at('environment.ts'), `${environment}// changed\n`);
    const evaluated = await runInProcess(
      'evaluate',
      '--adapter',
      at('trusted'),
      '--prompts',
      at('prompts.jsonl'),
    );
    expect(evaluated.status).toBe(1);
    expect(evaluated.stderr).toContain('then pass --trust');
    writeFileSync(at('environment.ts'), environment);
    const accepted = await runInProcess(
      ...['evaluate', '--adapter', at('trusted'), '--prompts', at('prompts.jsonl'), '--json'],
    );
    expect(accepted.status, accepted.stderr).toBe(0);
    expect(JSON.parse(accepted.stdout).policy.reward).toBeGreaterThan(0);
  });

  test.each([
    ['no-such.ts', 'got no such file'],
    ['prompts.jsonl', 'Cannot'],
  ])('rejects %s as an environment', async (file, message) => {
    const flags = args('bad').with(-1, at(file));
    const { status, stderr } = await runInProcess(...flags);
    expect(status).not.toBe(0);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('    at ');
    expect(existsSync(join(at('bad'), 'model'))).toBe(false);
  });
});
