import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { LoraAdapter, writeAdapter } from '../../src/base-setup/index.ts';
import { resolveModelConfig } from '../../src/config/model-config.ts';
import { freshArchitecture } from '../../src/models/decoder/create-model.ts';
import {
  createModel,
  loadModel,
  RewardModel,
  randomHead,
  saveModel,
  saveRewardModel,
} from '../../src/models/index.ts';
import { rewardRun } from '../../src/run/reward-run.ts';
import { RunLock } from '../../src/run/run-lock.ts';
import { sftRun } from '../../src/run/sft-run.ts';
import { trainRun } from '../../src/run/train-run.ts';
import { runInProcess } from '../helpers/run-cli.ts';
import { completionRows, pairRows, writeRows } from '../helpers/stage-setup.ts';
import { writeTinyTokenizer } from '../helpers/tiny-tokenizer.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let folder: string;
const at = (name: string) => join(folder, name);

/** Writes a model with random weights. */
async function writeModel(name: string, { seed = 7, vocabSize = 11, hiddenSize = 32 } = {}) {
  const sizes = { numAttentionHeads: 4, numLayers: 2, maxPositionEmbeddings: 40 };
  const config = resolveModelConfig({ vocabSize, hiddenSize, ...sizes });
  const fields = { eos_token_id: 1, pad_token_id: 0 };
  await saveModel(at(name), createModel(freshArchitecture(config), seed), { config: fields });
  writeTinyTokenizer(at(name));
}

/** Writes an adapter and a reward model over a model. */
async function writeAdapters(model: string) {
  const { base, tokenizer } = await loadModel(at(model));
  const adapter = LoraAdapter.create({ r: 2, lora_alpha: 4 }, base.modules());
  const about = { baseModelNameOrPath: at(model) };
  await writeAdapter(at(`${model}-adapter`), adapter, about);
  await writeAdapter(at(`${model}-marked`), adapter, { ...about, fingerprint: base.fingerprint() });
  const head = randomHead(base.architecture.config.hidden_size);
  const reward = new RewardModel({ base, tokenizer, adapter, head });
  await saveRewardModel(at(`${model}-judge`), reward, about);
}

/** Requires that `--dry-run` fails as the run does, and that neither leaves anything behind. */
async function expectSameFailure(args: readonly string[], message: RegExp): Promise<void> {
  const before = readdirSync(folder, { recursive: true }).sort();
  const planned = await runInProcess(...args, '--dry-run');
  expect(planned.stderr).toMatch(message);
  const ran = await runInProcess(...args);
  const { stdout: _, ...rest } = ran;
  expect({ status: planned.status, stderr: planned.stderr }).toEqual(rest);
  expect(planned.status).not.toBe(0);
  expect(readdirSync(folder, { recursive: true }).sort()).toEqual(before);
}

beforeAll(async () => {
  folder = await makeTrainFolder();
  mkdirSync(at('full'));
  writeFileSync(at('full/notes.txt'), 'mine');
  writeFileSync(at('throws.ts'), "throw new Error('no credit');");
  writeFileSync(at('no-function.ts'), 'export default 3;');
  writeFileSync(at('scores.jsonl'), '{');
  writeFileSync(at('empty.txt'), '');
  writeFileSync(at('bad.jsonl'), '{"prompt": 3}\n');
  for (const name of ['no-weights', 'no-tokenizer', 'no-config', 'other-shape']) {
    cpSync(at('model'), at(name), { recursive: true });
  }
  await writeModel('twin', { seed: 8 });
  await writeModel('wide', { hiddenSize: 64 });
  await writeModel('few-tokens', { vocabSize: 8 });
  for (const name of ['model', 'twin', 'wide']) await writeAdapters(name);
  writeRows(folder, 'texts.jsonl', completionRows());
  writeRows(folder, 'pairs.jsonl', pairRows());
  rmSync(at('no-weights/model.safetensors'));
  rmSync(at('no-tokenizer/tokenizer.json'));
  rmSync(at('no-config/config.json'));
  const config = JSON.stringify({ model_type: 'qwen3' });
  writeFileSync(at('other-shape/config.json'), config);
});

describe('--dry-run', () => {
  test.each([
    ['an output folder with files', ['--output', 'full'], /^Cannot start a run in .*full: it must/],
    ['an output that is a file', ['--output', 'empty.txt'], /it must be a folder, got a file/],
    ['a reward that does not exist', ['--reward', 'none.ts'], /got no such file/],
    ['a reward file that throws', ['--reward', 'throws.ts'], /no credit/],
    [
      'a reward file without a function',
      ['--reward', 'no-function.ts'],
      /^Cannot use .*no-function/,
    ],
    ['a damaged file of scores', ['--reward', 'human:scores.jsonl'], /scores\.jsonl/],
    ['an unknown reward', ['--reward', 'brevty'], /did you mean "brevity"/],
    ['prompts that do not exist', ['--prompts', 'none.txt'], /none\.txt/],
    ['empty prompts', ['--prompts', 'empty.txt'], /empty\.txt/],
    ['prompts that are not text', ['--prompts', 'bad.jsonl'], /bad\.jsonl/],
    ['prompts that are too long', ['--max-new-tokens', '40'], /must be below the model's context/],
    ['a model that does not exist', ['--model', './none'], /none/],
    ['a model without a config', ['--model', 'no-config'], /config\.json/],
    ['a model without weights', ['--model', 'no-weights'], /safetensors/],
    ['a model without a tokenizer', ['--model', 'no-tokenizer'], /tokenizer\.json/],
    ['a config of another model', ['--model', 'other-shape'], /other-shape/],
    ['an adapter that does not exist', ['--adapter', 'none'], /none/],
    ['too little memory', ['--memory', '1MB'], /memory/],
    ['an output under a file', ['--output', 'empty.txt/run'], /empty\.txt must be a folder, got a/],
    ['unknown modules', ['--lora-targets', 'nothing'], /must name modules that end in q_proj/],
    ['too many layers', ['--lora-layers', '9'], /for a model of 2 layers, got 9/],
    ['unknown layers of values', ['--value-lora-layers', '1-2'], /within 0-1 for a .* got 1-2/],
    ['a tokenizer of another model', ['--model', 'few-tokens'], /Cannot use the tokenizer in/],
    [
      'an adapter over other weights',
      ['--adapter', 'twin-marked'],
      /the weights have other values/,
    ],
    [
      'an adapter of another shape',
      ['--adapter', 'wide-adapter'],
      /must be \[2, \d+\] for this base/,
    ],
    [
      'a run without a model',
      ['--adapter', 'full'],
      /must be a run or an adapter, got no run\.json/,
    ],
    ['a reward model over other weights', ['--reward', 'model:twin-judge'], /have other values/],
    ['a reward model of another shape', ['--reward', 'model:wide-judge'], /hidden_size is 32 inst/],
    ['a reward model without a head', ['--reward', 'model:model-marked'], /must contain the head/],
    ['a whole model as a reward', ['--reward', 'model:model'], /got a whole model; train a reward/],
  ])('fails as the run does for %s', async (_, [flag, value], message) => {
    const [, scheme = '', place] = /^(human:|model:)?(.*)$/.exec(value!)!;
    const isPlain = ['40', '1MB', 'brevty', 'nothing', '9', '1-2'].includes(value!);
    const argument = isPlain ? value! : `${scheme}${at(place!)}`;
    const output = flag === '--output' ? [] : ['--output', at('new')];
    const start = ['train', '--config', at('train.yaml'), '--max-steps', '1'];
    await expectSameFailure([...start, flag!, argument, ...output], message!);
  });

  test.skipIf(process.platform !== 'linux')(
    'fails as the run does if the system refuses the output folder',
    () =>
      expectSameFailure(
        ['train', '--config', at('train.yaml'), '--output', '/proc/no/run'],
        /^Cannot start a run in \/proc\/no\/run: the system reports an error \(ENOENT.* '\/proc\/no'\); fix the cause and start it again, or choose another folder\n$/,
      ),
  );

  test('fails as the run does if two rewards have the same name', async () => {
    const start = ['train', '--config', at('train.yaml'), '--output', at('new')];
    const judge = `model:${at('model-judge')}`;
    cpSync(at('reward.ts'), at('elsewhere/reward.ts'));
    for (const [rewards, name] of [
      [[judge, judge], 'RewardModel'],
      [[at('reward.ts'), at('elsewhere/reward.ts')], 'reward'],
      [[`human=${judge}`, 'human'], 'human'],
    ] as const) {
      const flags = rewards.flatMap((reward) => ['--reward', reward]);
      await expectSameFailure(
        [...start, ...flags],
        new RegExp(`^Cannot use the rewards: their names must differ, got "${name}" twice`),
      );
    }
  });

  test.each([
    ['sft', ['--data', 'texts.jsonl']],
    ['reward', ['--data', 'pairs.jsonl']],
  ] as const)('fails as proximal %s does', async (command, [flag, data]) => {
    const start = [command, flag, at(data), '--output', at('new')];
    const base = ['--model', at('model')];
    for (const [args, message] of [
      [['--model', at('few-tokens')], /Cannot use the tokenizer in/],
      [[...base, '--adapter', at('twin-marked')], /the weights have other values/],
      [[...base, '--adapter', at('wide-adapter')], /must be \[2, \d+\] for this base/],
      [[...base, '--lora-targets', 'nothing'], /must name modules that end in q_proj/],
      [[...base, '--output', at('empty.txt/run')], /empty\.txt must be a folder, got a file/],
      [[...base, '--output', at('full')], /it must be new or empty, got notes\.txt/],
    ] as const) {
      await expectSameFailure([...start, ...args], message);
    }
  });

  test('names the same places as the run if paths are relative', async () => {
    const start = process.cwd();
    process.chdir(folder);
    try {
      const train = ['train', '--model', 'model', '--prompts', 'prompts.jsonl', '--output', 'new'];
      const reward = ['--reward', 'reward.ts', '--max-new-tokens', '4'];
      for (const [args, message] of [
        [[...train, ...reward, '--adapter', 'twin-marked'], /have other values/],
        [[...train, ...reward, '--reward', 'judge=model:twin-judge'], /have other values/],
        [[...train, ...reward, '--reward', 'none.ts'], /got no such file/],
        [
          ['sft', '--model', 'few-tokens', '--data', 'texts.jsonl', '--output', 'new'],
          /tokenizer in/,
        ],
      ] as const) {
        await expectSameFailure(args, message);
      }
      const { stdout } = await runInProcess(...train, ...reward, '--dry-run');
      expect(stdout).toMatch(/\n {2}rewards +reward\.ts\n/);
    } finally {
      process.chdir(start);
    }
  });

  test('fails as proximal sft does if all weights are trained from an adapter', async () => {
    const start = ['sft', '--data', at('texts.jsonl'), '--output', at('new'), '--full-parameters'];
    for (const place of [
      ['--model', at('model-marked')],
      ['--model', at('model'), '--adapter', at('model-marked')],
    ]) {
      await expectSameFailure(
        [...start, ...place],
        /--full-parameters must be false to start from the adapter .*model-marked, got true; merge/,
      );
    }
  });
});

describe('--resume with --dry-run', () => {
  const shared = () => ({ modelName: at('model'), maxSteps: 2, batchSize: 4 });

  beforeAll(async () => {
    for (const name of ['prompts', 'texts', 'pairs']) {
      cpSync(at(`${name}.jsonl`), at(`own-${name}.jsonl`));
    }
    const reward = [at('reward.ts')];
    await trainRun({
      ...{ ...shared(), prompts: at('own-prompts.jsonl'), reward, maxNewTokens: 4 },
      output: at('runs/train'),
    });
    await sftRun({ ...shared(), data: at('own-texts.jsonl'), output: at('runs/sft') });
    await rewardRun({ ...shared(), data: at('own-pairs.jsonl'), output: at('runs/reward') });
  });

  test.each([
    ['train', 'own-prompts.jsonl'],
    ['sft', 'own-texts.jsonl'],
    ['reward', 'own-pairs.jsonl'],
  ])('fails as proximal %s does', async (command, data) => {
    const run = at(`runs/${command}`);
    const other = command === 'sft' ? 'reward' : 'sft';
    for (const [args, message] of [
      [[at('runs/none')], /none: it must contain a run, got no run\.json; leave out --resume/],
      [[at('model')], /model: it must contain a run, got no run\.json; leave out --resume/],
      [[at(`runs/${other}`)], /it must be a run of "proximal \w+", got one of "proximal \w+"/],
      [[run, '--max-steps', '1'], /--max-steps must be at least the 2 steps that are completed/],
      [[run, '--batch-size', '3'], /--batch-size must be 4 as when the run started, got 3/],
    ] as const) {
      await expectSameFailure([command, '--resume', ...args], message);
    }
    const lock = RunLock.acquire(run);
    await expectSameFailure([command, '--resume', run], /only one process may use it at a time/);
    lock.release();

    const config = readFileSync(join(run, 'config.json'), 'utf8');
    writeFileSync(join(run, 'config.json'), config.replace('"seed": 0', '"seed": 5'));
    await expectSameFailure(
      [command, '--resume', run],
      /seed must be 0 as when the run started, got 5/,
    );
    writeFileSync(join(run, 'config.json'), config);

    const rows = readFileSync(at(data), 'utf8');
    appendFileSync(at(data), '\n');
    const changed = new RegExp(`must be as when it started, got a changed training data ${data}`);
    await expectSameFailure([command, '--resume', run], changed);
    const allowed = ['--resume', run, '--allow-changed-inputs', '--dry-run'];
    const { stdout } = await runInProcess(command, ...allowed);
    expect(stdout).toMatch(/warning +Resuming with changed inputs: a changed training data/);
    writeFileSync(at(data), rows);
  });

  test.each(['train', 'sft', 'reward'])(
    'says that a finished run of %s has no steps left',
    async (command) => {
      const resume = [command, '--resume', at(`runs/${command}`), '--dry-run'];
      const finished = await runInProcess(...resume);
      expect(finished.status).toBe(0);
      expect(finished.stdout).toMatch(/done before +2 +none left; --max-steps extends the run\n/);
      const extended = await runInProcess(...resume, '--max-steps', '5');
      expect(extended.stdout).toMatch(/done before +2 +3 left\n/);
      const isWarned = /warning +The run now has 5 steps instead of 2/.test(extended.stdout);
      expect(isWarned).toBe(command !== 'train');
    },
  );

  test('fails as the run does if no checkpoint is intact', async () => {
    cpSync(at('runs/sft'), at('runs/damaged'), { recursive: true });
    for (const name of readdirSync(at('runs/damaged/checkpoints'))) {
      if (name !== 'best.json') rmSync(at(`runs/damaged/checkpoints/${name}/state.json`));
    }
    await expectSameFailure(
      ['sft', '--resume', at('runs/damaged')],
      /^Cannot find the latest checkpoint in .*: at least one must be intact, got none/,
    );
  });
});

test('evaluate reports a missing run', async () => {
  const { status, stderr } = await runInProcess('evaluate', '--adapter', at('no-run'));
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: `Cannot use the adapter ${at('no-run')}: it must be a run or a folder with adapter_config.json, got no such folder\n`,
  });
});
