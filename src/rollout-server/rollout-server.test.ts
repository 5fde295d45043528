import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { largestDifference } from '../../test/helpers/pass-checks.ts';
import {
  countX,
  keepCheckpoints,
  tinyLoaded,
  tinyPrompts,
  trainedWeights,
} from '../../test/helpers/ppo-run.ts';
import { generateRoute, setupRollouts } from '../../test/helpers/rollout-client.ts';
import { startRolloutServer } from '../../test/helpers/rollout-server.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import type { PPOConfigOptions } from '../config/ppo-config.ts';
import { parseRolloutSpec } from '../config/rollout-spec.ts';
import type { GeneratedText } from '../generation/index.ts';
import type { PolicyModel } from '../models/index.ts';
import { PPOTrainer, type TrainOptions } from '../ppo-trainer/index.ts';
import type { StepJobs } from '../training/index.ts';
import { withServerRollouts } from './rollout-server.ts';

const { tokenizer } = tinyLoaded;

/** Largest difference between the server's logprobs and those of the exact policy. */
async function mismatch(
  policy: PolicyModel,
  texts: readonly GeneratedText[],
  temperature = 1,
): Promise<number> {
  const exact = await policy.logprobs(
    texts.map(({ promptTokens }) => promptTokens),
    texts.map(({ tokens }) => tokens),
    { temperature },
  );
  const differences = texts.map(({ samplingLogprobs }, i) =>
    largestDifference(samplingLogprobs, exact.logprobs[i]!),
  );
  return Math.max(...differences);
}

describe.each(['vllm', 'sglang'] as const)('RolloutServer with %s', (kind) => {
  test('returns the responses of the current policy with their logprobs', async () => {
    const settings = { temperature: 0.7 };
    const { rollOut, policy, server } = await setupRollouts({ kind }, { settings });
    const generation = { temperature: 0.7, numReturnSequences: 2, firstPrompt: 4 };
    const texts = await rollOut(generation);
    expect(texts.map(({ prompt, sample }) => [prompt, sample])).toEqual(
      [4, 5, 6].flatMap((prompt) => [0, 1].map((sample) => [prompt, sample])),
    );
    expect(texts[0]!.promptTokens).toBe(texts[1]!.promptTokens);
    expect(texts[0]!.tokens).not.toEqual(texts[1]!.tokens);
    expect(await mismatch(policy, texts, 0.7)).toBeLessThan(1e-4);
    for (const { tokens, pieces, text } of texts) {
      expect(pieces).toHaveLength(tokens.length);
      expect(text).toBe(pieces.join(''));
    }
    // The same step again: same seeds, no second push.
    expect((await rollOut(generation)).map(({ text }) => text)).toEqual(
      texts.map(({ text }) => text),
    );
    const other = await rollOut({ ...generation, streamKey: [1] });
    expect(other.map(({ text }) => text)).not.toEqual(texts.map(({ text }) => text));
    expect(server.adapters.size).toBe(1);
  });

  test('pushes the adapter once per change and removes the old one', async () => {
    const folder = makeTempFolder();
    const { rollOut, policy, adapter, server, client } = await setupRollouts({ kind }, { folder });
    const names: string[] = [];
    for (const change of [0, 0, 0.5, 0.5]) {
      const [data] = [...adapter.weights.values()].map((one) => one.data);
      data!.fill(change);
      expect(await mismatch(policy, await rollOut())).toBeLessThan(1e-4);
      expect(readdirSync(folder)).toEqual([...server.adapters.keys()]);
      names.push(...server.adapters.keys());
    }
    expect(names).toEqual([names[0], names[0], names[2], names[2]]);
    expect(names[0]).not.toBe(names[2]);
    await client.dispose();
    expect(server.adapters.size).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('pushes the adapter again if the server was restarted in the middle of a step', async () => {
    const { rollOut, policy, server } = await setupRollouts({ kind }, { concurrency: 2 });
    await rollOut();
    const [first] = server.adapters.keys();
    let isDown = true;
    server.settings.intercept = ({ route }) => {
      if (!isDown || !route.includes('generate')) return undefined;
      isDown = false;
      server.restart();
      return 'disconnect';
    };
    expect(await mismatch(policy, await rollOut())).toBeLessThan(1e-4);
    const [second] = server.adapters.keys();
    expect(server.adapters.size).toBe(1);
    expect(second).not.toBe(first);
  });

  test('ends texts at stop tokens and stop strings as local generation does', async () => {
    const { rollOut, policy } = await setupRollouts({ kind });
    const options = { maxNewTokens: 30, numReturnSequences: 3, stopTokenIds: [] };
    const whole = await rollOut(options);
    const stopToken = whole[0]!.tokens[2]!;
    const stopString = whole[1]!.pieces[3]!.trim();
    const stops = { stopTokenIds: [stopToken], stopStrings: [stopString] };
    const texts = await rollOut({ ...options, ...stops });
    expect(texts.some(({ finishReason }) => finishReason === 'stop')).toBe(true);
    for (const [i, { tokens, text, finishReason }] of texts.entries()) {
      expect([...whole[i]!.tokens.subarray(0, tokens.length)]).toEqual([...tokens]);
      expect(text).not.toContain(stopString);
      expect(tokens.indexOf(stopToken)).toBeOneOf([-1, tokens.length - 1]);
      if (tokens.length < 30) expect(finishReason).toBe('stop');
    }
    expect(await mismatch(policy, texts)).toBeLessThan(1e-4);
  });
});

describe('RolloutServer', () => {
  test('never learns of a folder that changes or of load_inplace', async () => {
    const { rollOut, server } = await setupRollouts();
    await rollOut();
    const [body] = server.bodies('/v1/load_lora_adapter') as [Record<string, string>];
    expect(Object.keys(body)).toEqual(['lora_name', 'lora_path']);
    expect(basename(body.lora_path!)).toBe(body.lora_name);
    expect(existsSync(body.lora_path!)).toBe(true);
    expect(body.lora_name).toMatch(/^proximal-[0-9a-f]{8}-1-[0-9a-f]{16}$/);
  });

  test('sends all sampling settings', async () => {
    const settings = { temperature: 0.7, topP: 0.9, topK: 20, minP: 0.01 };
    const { rollOut, server } = await setupRollouts({}, { settings });
    await rollOut({ ...settings, numReturnSequences: 2, stopStrings: ['zx'], topLogprobs: 3 });
    const sent = server.bodies(generateRoute).at(-1) as { sampling_params: object };
    expect(sent.sampling_params).toMatchObject({
      ...{ n: 2, max_tokens: 6, temperature: 0.7, top_p: 0.9, top_k: 20, min_p: 0.01 },
      ...{ stop: ['zx'], stop_token_ids: tokenizer.eosIds, ignore_eos: true, logprobs: 3 },
    });
    const seeds = (server.bodies(generateRoute) as { sampling_params: { seed: number } }[])
      .slice(-3)
      .map(({ sampling_params: { seed } }) => seed);
    expect(new Set(seeds).size).toBe(3);
  });

  test('requests at most `concurrency` prompts at the same time', async () => {
    const { rollOut, server } = await setupRollouts({}, { concurrency: 2 });
    await rollOut();
    expect(server.mostPending()).toBe(2);
  });

  test('authorises by credentials or a token, which no error shows', async () => {
    const { server, rollOut } = await setupRollouts({}, { token: 'secret' });
    await rollOut();
    expect(server.requests.at(-1)!.authorization).toBe('Bearer secret');
    const spec = parseRolloutSpec(server.rollouts.replace('//', '//Ada:p%40ss@'))!;
    const other = await setupRollouts({}, { spec });
    server.settings.intercept = () => ({ status: 401, text: '' });
    await expect(other.rollOut()).rejects.toThrow(
      `Cannot generate with vLLM: ${server.url}/version must respond with status 200, got 401`,
    );
    expect(server.requests.at(-1)!.authorization).toBe(`Basic ${btoa('Ada:p@ss')}`);
  });

  test('stops at an abort and cancels its requests', async () => {
    const { rollOut, server } = await setupRollouts();
    await rollOut();
    const abort = new AbortController();
    server.settings.intercept = ({ route }) => {
      if (route !== generateRoute) return undefined;
      abort.abort();
      return 'hang';
    };
    await expect(rollOut({}, abort.signal)).rejects.toThrow('aborted');
  });

  test('retries after a timeout and after status 500', async () => {
    const { rollOut, policy, server } = await setupRollouts({}, { timeout: 2 });
    server.settings.intercept = ({ route }, count) => {
      if (route !== generateRoute || count > 2) return undefined;
      return count === 1 ? 'hang' : { status: 500, text: 'engine busy' };
    };
    expect(await mismatch(policy, await rollOut())).toBeLessThan(1e-4);
  });
});

describe('PPO with rollouts by a server', () => {
  const config: PPOConfigOptions = {
    ...{ maxNewTokens: 5, batchSize: 6, samplesPerPrompt: 2, ppoEpochs: 2, temperature: 0.8 },
    ...{ loraR: 4, learningRate: 1e-2, valueLearningRate: 1e-2 },
  };

  test('learns the same from the same responses as with local rollouts', async () => {
    const server = await startRolloutServer(tinyLoaded);
    const steps: GeneratedText[][] = [];
    const remote = new PPOTrainer(
      { ...config, rollouts: server.rollouts },
      { model: tinyLoaded, rewards: countX },
    );
    const metrics = [];
    for (const step of [0, 1]) {
      const result = await remote.ppoStep(tinyPrompts, { step });
      steps.push([...result.details.texts]);
      metrics.push(result.metrics);
    }
    const weights = await trainedWeights(remote);
    await remote.dispose();
    expect(server.adapters.size).toBe(0);
    expect(server.bodies('/v1/load_lora_adapter')).toHaveLength(2);
    // The same responses, as if they had been sampled here.
    const local = new PPOTrainer(config, {
      model: tinyLoaded,
      rewards: countX,
      replace: ({ jobs }) => ({
        jobs: Object.assign(Object.create(jobs), { rollOut: async () => steps.shift()! }),
      }),
    });
    for (const step of [0, 1]) {
      const result = await local.ppoStep(tinyPrompts, { step });
      expect(metrics[step]!['val/rollout_mismatch']).toBeLessThan(1e-8);
      for (const name of ['objective/kl', 'objective/scores', 'loss/policy_avg', 'val/ratio']) {
        expect(metrics[step]![name], name).toBeCloseTo(result.metrics[name]!, 4);
      }
    }
    for (const [name, data] of Object.entries(await trainedWeights(local))) {
      expect(largestDifference(data, weights[name]!), name).toBeLessThan(1e-3);
    }
  });

  test('resumes exactly, also with a server at another address', async () => {
    const folder = makeTempFolder();
    const train = async (options: TrainOptions, rolloutFolder?: string) => {
      const { rollouts } = await startRolloutServer(tinyLoaded);
      const trainer = new PPOTrainer(
        { ...config, rolloutFolder, rollouts: rollouts.replace('//', '//Ada:secret@') },
        { model: tinyLoaded, rewards: countX },
      );
      await trainer.train(tinyPrompts, { numEpochs: 3, ...options });
      const weights = await trainedWeights(trainer);
      await trainer.dispose();
      return weights;
    };
    const saveCheckpoint = keepCheckpoints(folder);
    const whole = await train({ saveInterval: 1, saveCheckpoint });
    const resumeFrom = join(folder, 'checkpoint-2');
    expect(readFileSync(join(resumeFrom, 'state.json'), 'utf8')).not.toContain('secret');
    const resumed = await train({ resumeFrom }, makeTempFolder());
    expect(Object.keys(resumed)).toEqual(Object.keys(whole));
    for (const [name, data] of Object.entries(whole)) {
      expect(largestDifference(data, resumed[name]!), name).toBeLessThan(1e-4);
    }
  });

  test('evaluates locally, and logs alternatives and entropies of tokens', async () => {
    const server = await startRolloutServer(tinyLoaded);
    const trainer = new PPOTrainer(
      { ...config, rollouts: server.rollouts },
      { model: tinyLoaded, rewards: countX },
    );
    await trainer.evaluate(tinyPrompts);
    expect(server.routes()).not.toContain('/v1/load_lora_adapter');
    const records: unknown[] = [];
    await trainer.train(tinyPrompts, {
      ...{ maxSteps: 1, logTokens: 1, topLogprobs: 3, logSamples: 2 },
      onEvent: (event) => {
        if (event.type === 'step') records.push(...(event.tokens ?? []));
      },
    });
    const [{ entropies, alternatives }] = records as [
      { entropies: number[]; alternatives: { ids: number[] }[] },
    ];
    expect(alternatives.map(({ ids }) => ids.length)).toEqual(entropies.map(() => 3));
    expect(Math.min(...entropies)).toBeGreaterThan(0);
    await trainer.dispose();
  });

  test('replaces only the rollouts of jobs that run elsewhere', async () => {
    const scoreTexts = () => async () => Float32Array.of(1);
    const remote = { isRemote: true, scoreTexts } as unknown as StepJobs;
    const rollOut = async () => [];
    const jobs = withServerRollouts(remote, { rollOut });
    expect(jobs.isRemote).toBe(true);
    expect(jobs.scoreTexts?.(0)).toBeTypeOf('function');
    expect(await jobs.rollOut({ prompts: [], generation: {} })).toEqual([]);
  });
});
