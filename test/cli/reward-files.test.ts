import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { readRunState } from '../../src/run/run-state.ts';
import { endOf, runInProcess, startCli } from '../helpers/run-cli.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let folder: string;
const at = (name: string) => join(folder, name);

/** The arguments of a short run with the reward in a file of this text. */
function argsFor(name: string, reward: string): string[] {
  writeFileSync(at(`${name}.ts`), reward);
  const data = ['--model', at('model'), '--prompts', at('prompts.jsonl'), '--output', at(name)];
  const sizes = ['--max-new-tokens', '4', '--batch-size', '4', '--max-steps', '2'];
  const rest = ['--validation-fraction', '0', '--reward', at(`${name}.ts`)];
  return ['train', ...data, ...sizes, ...rest];
}

const adapterOf = (run: string) => readFileSync(join(run, 'model/adapter_model.safetensors'));

beforeAll(async () => {
  folder = await makeTrainFolder();
});

test('an exception in a reward ends the run with its file, line and response', async () => {
  const reward = `import { rewards } from 'proximal';
const brief = rewards.brevity({ target: 2 });
type Sample = Parameters<typeof brief>[0] & { missing?: { text: string } };
export default (sample: Sample): number =>
  brief(sample) + sample.missing!.text.length;`;
  const { status, stdout, stderr } = await runInProcess(...argsFor('broken', reward));
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr.trim().split('\n').at(-1)).toMatch(
    /^Cannot score sample 0 with "broken": Cannot read properties of undefined \(reading 'text'\) \(TypeError at .*broken\.ts:5\); the response is ".*", the prompt ".*"$/,
  );
  expect(stderr).not.toContain('    at ');
});

test('what a reward prints goes to standard error, so --json stays valid', async () => {
  const reward = `export default ({ promptIdx }) => {
    console.log('scoring', promptIdx);
    process.stdout.write('done\\n');
    return 1;
  };`;
  const { status, stdout, stderr } = await runInProcess(...argsFor('prints', reward), '--json');
  expect(status).toBe(0);
  const printed = stderr.split('\n').filter((line) => /^(scoring \d|done)$/.test(line));
  const step = [0, 1, 2, 3].flatMap((i) => [`scoring ${i}`, 'done']);
  expect(printed).toEqual([...step, ...step]);
  const types = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).type);
  expect(types.at(-1)).toBe('result');
});

test('Ctrl-C immediately stops a reward that never yields, and the resumed run ends with the same result', async () => {
  const reward = (name: string) => `import { existsSync } from 'node:fs';
let calls = 0;
export default ({ response }: { response: string }) => {
  if (calls++ === 5 && existsSync(${JSON.stringify(at(`${name}.hang`))})) {
    console.log('hanging');
    while (true);
  }
  return response.length;
};`;
  writeFileSync(at('hangs.hang'), '');
  const child = startCli(...argsFor('hangs', reward('hangs')));
  let killedAt = 0;
  child.stderr.on('data', (text) => {
    if (!String(text).includes('hanging')) return;
    killedAt = performance.now();
    child.kill('SIGINT');
  });
  const ended = await endOf(child);
  expect(ended).toMatchObject({ status: 130, stdout: expect.stringContaining('can be resumed') });
  expect(performance.now() - killedAt).toBeLessThan(20_000);
  rmSync(at('hangs.hang'));
  const resumed = await runInProcess('train', '--resume', at('hangs'));
  expect(resumed).toMatchObject({ status: 0 });
  expect(resumed.stderr).toMatch(/^Resuming after step 1 of 2\n/m);
  expect(await runInProcess(...argsFor('whole', reward('whole')))).toMatchObject({ status: 0 });
  expect(adapterOf(at('hangs')).equals(adapterOf(at('whole')))).toBe(true);
});

test('SIGTERM stops a built-in reward whose regular expression takes forever', async () => {
  const data = ['--model', at('model'), '--prompts', at('prompts.jsonl'), '--output', at('regex')];
  const sizes = ['--max-new-tokens', '30', '--batch-size', '8', '--validation-fraction', '0'];
  const child = startCli('train', ...data, ...sizes, '--reward', 'regex:pattern=^([a-z ]+)+!');
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = endOf(child);
  const isScoring = async () =>
    expect((await readRunState(at('regex')))?.phase?.phase).toBe('score');
  await vi.waitFor(isScoring, { timeout: 60_000, interval: 100 });
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ status: 130 });
});
