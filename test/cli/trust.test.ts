import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { recordTrustedRewards, TRUST_VARIABLE } from '../../src/run/reward-trust.ts';
import { trainRun } from '../../src/run/train-run.ts';
import { runInProcess } from '../helpers/run-cli.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let folder: string;
const at = (name: string) => join(folder, name);

/** A reward that leaves a file behind when it is executed. */
const reward = (score: string) => `import { writeFileSync } from 'node:fs';
writeFileSync(${JSON.stringify(at('executed'))}, '');
export default ({ response }: { response: string }) => ${score};`;

/** Forgets what this user has run, as on the machine of somebody who downloaded the run. */
const forget = () => rmSync(process.env[TRUST_VARIABLE]!, { recursive: true, force: true });

beforeAll(async () => {
  folder = await makeTrainFolder();
  writeFileSync(at('own.ts'), reward('response.length'));
  await trainRun({
    ...{ modelName: at('model'), prompts: at('prompts.jsonl'), reward: [at('own.ts')] },
    ...{ output: at('original'), maxNewTokens: 4, batchSize: 4, maxSteps: 1 },
  });
});

beforeEach(async () => {
  await recordTrustedRewards({ reward: [at('own.ts')] });
  rmSync(at('run'), { recursive: true, force: true });
  cpSync(at('original'), at('run'), { recursive: true });
  rmSync(at('executed'), { force: true });
});

/** Every command that executes what the folder of a run names. */
const commands = [
  ['train', '--resume', 'run', '--max-steps', '2'],
  ['train', '--resume', 'run', '--max-steps', '2', '--dry-run'],
  ['evaluate', '--adapter', 'run'],
  ['evaluate', '--model', 'run'],
];
const run = (command: readonly string[], ...flags: string[]) =>
  runInProcess(...command.map((arg) => (arg === 'run' ? at('run') : arg)), ...flags);

describe.each(commands.map((command) => [command.join(' '), command] as const))(
  'proximal %s',
  (_, command) => {
    test("executes the user's own reward file without a question", async () => {
      const { status, stderr } = await run(command);
      expect(status, stderr).toBe(0);
      expect(existsSync(at('executed'))).toBe(true);
    });

    test("does not execute somebody else's reward file unless it is trusted or named", async () => {
      forget();
      const { status, stderr } = await run(command);
      expect(existsSync(at('executed'))).toBe(false);
      expect(stderr.trim().split('\n').at(-1)).toBe(
        `Cannot run the rewards of ${at('run')}: they must be code that you have run before, got ${at('own.ts')} (never run by you); read it, then pass --trust`,
      );
      expect(status).toBe(1);
      const named = await run(command, '--reward', at('own.ts'));
      expect(named.status, named.stderr).toBe(0);
      const trusted = await run(command, '--trust');
      expect(trusted.status, trusted.stderr).toBe(0);
      expect(existsSync(at('executed'))).toBe(true);
    });
  },
);

test('trust is remembered', async () => {
  forget();
  expect(await run(['evaluate', '--adapter', 'run'], '--trust')).toMatchObject({ status: 0 });
  expect(await run(['evaluate', '--adapter', 'run'])).toMatchObject({ status: 0 });
});

test('an edited reward file is not executed; the error says how to accept it', async () => {
  const text = readFileSync(at('own.ts'), 'utf8');
  writeFileSync(at('own.ts'), reward('-response.length'));
  const [resume, plan, evaluate] = commands as [string[], string[], string[]];
  for (const command of [resume, plan]) {
    const { status, stderr } = await run(command, '--trust');
    expect(stderr).toContain(
      `got a changed reward own.ts (${at('own.ts')}); restore it, start a new run, or continue with the changes by --allow-changed-inputs`,
    );
    expect(status).toBe(1);
  }
  const evaluated = await run(evaluate);
  expect(evaluated.stderr).toContain(`got ${at('own.ts')} (changed since then); read it, then`);
  expect(existsSync(at('executed'))).toBe(false);
  const resumed = await run(resume, '--allow-changed-inputs');
  expect(resumed.status, resumed.stderr).toBe(0);
  writeFileSync(at('own.ts'), text);
});
