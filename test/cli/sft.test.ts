import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { loadModel } from '../../src/models/index.ts';
import { sftRun } from '../../src/run/sft-run.ts';
import { SFTTrainer } from '../../src/stages/index.ts';
import { endOf, runInProcess, startCli } from '../helpers/run-cli.ts';
import { completionRows, readLog, writeRows } from '../helpers/stage-setup.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let folder: string;
const at = (name: string) => join(folder, name);
const course = ['--batch-size', '2', '--num-epochs', '2', '--learning-rate', '1e-2'];
const flags = () => ['--model', at('model'), '--data', at('texts.jsonl'), ...course];
const sft = (...args: string[]) => runInProcess('sft', ...flags(), ...args);
const adapterOf = (run: string) => readFileSync(join(run, 'model/adapter_model.safetensors'));

beforeAll(async () => {
  folder = await makeTrainFolder();
  const long = { prompt: 'the', completion: ' cat'.repeat(60) };
  writeRows(folder, 'texts.jsonl', [...completionRows(), { prompt: 'a' }, long]);
});

describe('proximal sft', () => {
  test('learns completions, reports bad rows and shows the loss before and after', async () => {
    const { status, stdout, stderr } = await sft('--output', at('whole'));
    expect(status).toBe(0);
    // 13 texts, one of them for validation: six batches of 2 per epoch.
    expect(stderr).toContain('Left out 1 of 14 rows: 1 missing-column; the first: Cannot read ');
    expect(stderr).toContain('\nWarning: Truncated 1 of 13 texts to 40 tokens\n');
    expect(stderr).toMatch(/\nstep {2}0\/12 {2}evaluation {2}loss \d.* perplexity /);
    expect(stderr).toMatch(/\nstep 12\/12 {2}loss [\d.]+\n/);
    expect(stdout).toMatch(/^All steps are done\. 12 steps in \d+ s\.\n/);
    const [, before, after] = /loss +([\d.]+) +([\d.]+)\n {2}perplexity /.exec(stdout)!;
    expect(Number(after)).toBeLessThan(Number(before) - 0.3);
    expect(stdout).toContain(`generate --model ${at('whole')} --prompt "…"\n`);
    const config = JSON.parse(readFileSync(at('whole/config.json'), 'utf8'));
    expect(config).toMatchObject({ data: at('texts.jsonl'), batchSize: 2, merged: false });
    const report = JSON.parse(readFileSync(at('whole/data.json'), 'utf8'));
    expect(report).toMatchObject({ read: 14, kept: 13, bad: 1, truncated: 1 });
    expect(existsSync(at('whole/samples.jsonl'))).toBe(false);
    expect(existsSync(at('whole/tokens.jsonl'))).toBe(false);
    const [first, ...log] = readLog(at('whole'), 'log.jsonl');
    expect(first).toMatchObject({
      step: 0,
      type: 'warning',
      message: expect.stringContaining('Left out 1 of 14'),
    });
    expect(log).toContainEqual(
      expect.objectContaining({
        step: 0,
        type: 'start',
        message: 'Started a run of 12 steps',
      }),
    );
    expect(log.slice(-2)).toMatchObject([
      { step: 12, type: 'model', message: expect.stringContaining('the best by validation') },
      { step: 12, type: 'end', message: 'All steps are done' },
    ]);
  });

  test('resumed after Ctrl-C ends with the same adapter and logs', async () => {
    const child = startCli('sft', ...flags(), '--output', at('parted'));
    let isKilled = false;
    child.stderr.on('data', (text) => {
      if (!isKilled && String(text).includes('step  3/12')) isKilled = child.kill('SIGINT');
    });
    expect(await endOf(child)).toMatchObject({
      status: 130,
      stdout: `The run was interrupted and can be resumed:\n  npx proximal sft --resume ${at('parted')}\n`,
    });
    const resumed = await runInProcess('sft', '--resume', at('parted'), '--batch-size', '2');
    expect(resumed.stderr).toMatch(/\nResuming after step \d+ of 12\n/);
    expect(adapterOf(at('parted')).equals(adapterOf(at('whole')))).toBe(true);
    for (const log of ['metrics.jsonl', 'evaluations.jsonl']) {
      expect(readLog(at('parted'), log)).toEqual(readLog(at('whole'), log));
    }
  });

  test('--dry-run shows the plan and does nothing', async () => {
    const { status, stdout } = await sft('--output', at('planned'), '--dry-run', '--json');
    expect(status).toBe(0);
    // An adapter of rank 16 has 16·(32 + 32) weights per module, 4 modules and 2 layers.
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ unit: 'texts', train: 12, validation: 1, trainable: { adapter: 8192 }, longest: 40 },
      ...{ stepsPerEpoch: 6, totalSteps: 12, evaluations: 3 },
    });
    expect(existsSync(at('planned'))).toBe(false);
  });

  test('rejects a run of another kind and missing data with exit code 2', async () => {
    const other = await runInProcess('train', '--resume', at('whole'));
    const nothing = await runInProcess('sft', '--model', at('model'));
    expect(other).toMatchObject({
      status: 2,
      stderr: `Cannot use the run in ${at('whole')}: it must be a run of "proximal train", got one of "proximal sft"\n`,
    });
    expect(nothing).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(
        /^Cannot use the flags: --data must be set to .* got nothing\n$/,
      ),
    });
  });
});

describe('proximal sft --full-parameters on a model of proximal init', () => {
  /** The losses of a run: before training without dropout, then of each step. */
  async function lossesOf(output: string, dropout: string) {
    const model = at(`fresh-${dropout}`);
    if (!existsSync(model)) {
      const sizes = ['--hidden-size', '32', '--num-layers', '2', '--num-attention-heads', '4'];
      const tokenizer = ['--tokenizer', at('model'), '--vocab-size', '11'];
      const made = await runInProcess(
        ...['init', '--out', model, '--dropout', dropout, ...sizes, ...tokenizer],
        ...['--max-position-embeddings', '40'],
      );
      expect(made.status, made.stderr).toBe(0);
    }
    const { status, stderr } = await runInProcess(
      ...['sft', '--model', model, '--data', at('texts.jsonl'), '--full-parameters'],
      ...['--max-steps', '3', '--batch-size', '4', '--validation-fraction', '0.25'],
      ...['--output', at(output)],
    );
    expect(status, stderr).toBe(0);
    const numbers = (log: string, name: string) =>
      readLog(at(output), log).map((row) => (row as Record<string, number>)[name]);
    const [initial] = numbers('evaluations.jsonl', 'eval/loss');
    return { initial, steps: numbers('metrics.jsonl', 'train/loss') };
  }

  test('drops with the dropout of the model: the same for a seed, nothing in evaluations', async () => {
    const none = await lossesOf('dropout-none', '0');
    const half = await lossesOf('dropout-half', '0.5');
    // Both models have the same weights, and evaluations drop nothing.
    expect(half.initial).toBe(none.initial);
    expect(half.steps).toHaveLength(3);
    for (const [i, loss] of half.steps.entries()) {
      expect(Math.abs(loss! - none.steps[i]!)).toBeGreaterThan(1e-4);
    }
    expect(await lossesOf('dropout-again', '0.5')).toEqual(half);
    const config = JSON.parse(readFileSync(at('dropout-half/model/config.json'), 'utf8'));
    expect(config).toMatchObject({ embd_pdrop: 0.5, resid_pdrop: 0.5 });
  });
});

describe('sftRun()', () => {
  const options = (output: string) => ({
    ...{ modelName: at('model'), data: at('texts.jsonl'), output: at(output) },
    ...{ validationFile: at('held.jsonl'), batchSize: 4, learningRate: 1e-2 },
  });

  /** The loss of a whole model on the only validation text, EOS token included. */
  async function lossOf(model: string): Promise<number> {
    const loaded = await loadModel(model);
    const tokens = loaded.tokenizer.encode('dog and the dog likes <eos>');
    const text = { tokens, learned: Int32Array.of(1, 2, 3, 4, 5) };
    return (await new SFTTrainer({}, { model: loaded }).evaluate([text])).loss;
  }

  beforeAll(() => {
    writeRows(folder, 'held.jsonl', [{ prompt: 'dog', completion: ' and the dog likes' }]);
  });

  test('writes a fully trained model with the loss that the run reports', async () => {
    const { modelFolder, evaluations } = await sftRun({ ...options('full'), fullParameters: true });
    expect(await lossOf(modelFolder!)).toBeCloseTo(evaluations!.model.metrics['eval/loss']!, 5);
    expect(await lossOf(at('model'))).toBeCloseTo(evaluations!.first.metrics['eval/loss']!, 5);
  });

  test('saves the best model as model and the last one next to it, here merged', async () => {
    const course = { merged: true, numEpochs: 8, evalInterval: 1 };
    const result = await sftRun({ ...options('overfitted'), ...course });
    const losses = readLog(at('overfitted'), 'evaluations.jsonl').map(
      (line) => (line as Record<string, number>)['eval/loss']!,
    );
    const lowest = Math.min(...losses);
    expect(result.model).toMatchObject({
      ...{ step: losses.indexOf(lowest), chosenBy: 'validation', metric: 'eval/loss' },
      message: expect.stringContaining('the best by validation (validation loss '),
    });
    expect(await lossOf(result.modelFolder!)).toBeCloseTo(lowest, 4);
    expect(await lossOf(result.lastFolder!)).toBeCloseTo(losses.at(-1)!, 4);
    expect(losses.at(-1)).toBeGreaterThan(lowest + 0.01);
  });
});
