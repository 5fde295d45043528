import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { readAdapter, writeAdapter } from '../base-setup/index.ts';
import { adapterFromFiles } from '../base-setup/lora/peft-reader.ts';
import { embeddedFolder } from '../embedded/embedded-files.ts';
import { makeSplitPost } from '../embedded/world/index.ts';
import { backendOf } from '../engine/runtime/index.ts';
import type { TrainEvent } from '../loop/index.ts';
import { loadModel, PolicyModel } from '../models/index.ts';
import { brevity, type ModelFiles, WebTrainer, type WebTrainOptions, WorkerHost } from './index.ts';

const modelFiles: ModelFiles = Object.fromEntries(
  ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json']
    .concat('model.safetensors')
    .map((name) => [name, new Uint8Array(readFileSync(join(embeddedFolder, name)))]),
);
const prompts = Array.from(
  { length: 8 },
  (_, number) => makeSplitPost('ppo', { seed: 3, number }).text,
);

/** A trainer whose worker is this process, on the processor. */
async function openTrainer(files: ModelFiles = modelFiles): Promise<WebTrainer> {
  const { port1, port2 } = new MessageChannel();
  port1.start();
  port2.start();
  onTestFinished(() => port1.close());
  new WorkerHost(port2 as never, { backend: backendOf('cpu') });
  const trainer = new WebTrainer(Object.assign(port1, { terminate: () => {} }) as never);
  await trainer.open({ model: files, name: 'proximal/embedded' });
  return trainer;
}

function expectClose(actual: readonly number[], expected: readonly number[]): void {
  expect(actual).toHaveLength(expected.length);
  for (const [i, x] of expected.entries()) expect(actual[i]).toBeCloseTo(x, 4);
}

const options = {
  config: { maxNewTokens: 8, batchSize: 2, loraTargets: ['all-linear'], learningRate: 1e-3 },
  rewards: { brevity: brevity({ target: 3 }) },
  maxSteps: 2,
} satisfies WebTrainOptions;

test('trains over messages, and its adapter is the same model as in a folder', async () => {
  const trainer = await openTrainer();
  const events: TrainEvent[] = [];
  const onEvent = (event: TrainEvent) => void events.push(event);
  const result = await trainer.train(prompts, { ...options, onEvent });
  expect(result).toMatchObject({ steps: 2, reason: 'completed' });
  expect(events.filter(({ type }) => type === 'step')).toHaveLength(2);

  const files = await trainer.adapter();
  const model = await loadModel(embeddedFolder);
  const { adapter } = await adapterFromFiles(files, model.base);
  const folder = join(makeTempFolder(), 'adapter');
  await writeAdapter(folder, adapter, { fingerprint: model.base.fingerprint() });
  const saved = await readAdapter(folder, model.base);
  const policy = new PolicyModel({ ...model, adapter: saved.adapter });
  const [text] = await trainer.generate(prompts.slice(0, 1), { maxNewTokens: 8, seed: 5 });
  const promptTokens = model.tokenizer.encode(prompts[0]!);
  const { logprobs } = await policy.logprobs([promptTokens], [text!.tokens]);
  const remote = await trainer.logprobs(prompts[0]!, text!.tokens);
  expect(Array.from(remote)).toEqual(Array.from(logprobs[0]!));
  // The base alone computes other numbers: the adapter was used.
  const plain = await new PolicyModel(model).logprobs([promptTokens], [text!.tokens]);
  expect(Array.from(remote)).not.toEqual(Array.from(plain.logprobs[0]!));
});

test('an adapter that is passed in is where policy and reference start', async () => {
  const trainer = await openTrainer();
  await trainer.train(prompts, options);
  const files = await trainer.adapter();
  const steps: (TrainEvent & { type: 'step' })[] = [];
  const onEvent = (event: TrainEvent) => {
    if (event.type === 'step') steps.push(event);
  };
  await trainer.train(prompts, { ...options, maxSteps: 1, adapter: files, onEvent });
  const [{ metrics, tokens }] = steps as [(typeof steps)[0]];
  expect(metrics['objective/kl']).toBeCloseTo(0, 5);
  const { base, tokenizer } = await loadModel(embeddedFolder);
  const { adapter } = await adapterFromFiles(files, base);
  const [{ prompt, ids, refLogprobs }] = tokens as [(typeof tokens)[0]];
  const policy = new PolicyModel({ base, tokenizer, adapter });
  const { logprobs } = await policy.logprobs([tokenizer.encode(prompt)], [Int32Array.from(ids)]);
  expectClose(refLogprobs, Array.from(logprobs[0]!));
});

test('pauses between two steps, takes another β, and continues', async () => {
  const trainer = await openTrainer();
  const seen: string[] = [];
  const betas: number[] = [];
  const onEvent = async (event: TrainEvent) => {
    if (event.type === 'step') {
      betas.push(event.metrics['objective/kl_coef']!);
      if (event.step === 1) await trainer.pause();
    }
    if (event.type === 'control') {
      seen.push(event.status);
      if (event.status === 'paused') {
        await trainer.setKlCoef(0.5);
        await trainer.resume();
      }
    }
  };
  const config = { ...options.config, klCoef: 0.1 };
  await trainer.train(prompts, { ...options, config, maxSteps: 4, onEvent });
  expect(seen).toEqual(['paused', 'running']);
  expect(betas[0]).toBe(0.1);
  expect(betas.at(-1)).toBe(0.5);
});

test('a failing reward is one sentence with its name', async () => {
  const trainer = await openTrainer();
  const rewards = {
    broken: () => {
      throw new Error('no score today');
    },
  };
  await expect(trainer.train(prompts, { ...options, rewards })).rejects.toThrow(
    /^Cannot score sample 0 with "broken": no score today/,
  );
});

test('a stopped run ends before its last step', async () => {
  const trainer = await openTrainer();
  const onEvent = (event: TrainEvent) => {
    if (event.type === 'step') void trainer.stop();
  };
  const result = await trainer.train(prompts, { ...options, maxSteps: 50, onEvent });
  expect(result.reason).toBe('interrupted');
  expect(result.steps).toBeLessThan(50);
});

test('missing files and methods in the wrong order are explained', async () => {
  const { 'tokenizer.json': _, ...without } = modelFiles;
  await expect(openTrainer(without)).rejects.toThrow(
    'Cannot load the model proximal/embedded: its files must contain tokenizer.json, got config.json, generation_config.json, tokenizer_config.json, model.safetensors',
  );
  const trainer = await openTrainer();
  await expect(trainer.adapter()).rejects.toThrow(
    'Cannot save the adapter: a training must have started; call train()',
  );
});
