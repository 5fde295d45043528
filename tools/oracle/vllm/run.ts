/** Compares rollouts by a real server with local ones; see serve.sh.
 *    npx tsx tools/oracle/vllm/run.ts <model folder> vllm:http://127.0.0.1:8000 [steps] */
import { learnStories, openings } from '../../../bench/learning/stories.ts';
import { randomStream } from '../../../src/engine/random/index.ts';
import { type LoadedModel, loadModel } from '../../../src/models/index.ts';
import { PPOTrainer } from '../../../src/ppo-trainer/index.ts';

const [folder, rollouts, steps = '15'] = process.argv.slice(2);
if (folder === undefined || rollouts === undefined) {
  throw new TypeError(
    'Usage: run.ts <model folder> <server, such as vllm:http://host:8000> [steps]',
  );
}

const model = await loadModel(folder);
for (const setting of [{ temperature: 1 }, { temperature: 0.7 }, { temperature: 0.7, topP: 0.9 }]) {
  console.log(JSON.stringify({ ...setting, ...(await compareLogprobs(model, setting)) }));
}
await model.base.dispose();
for (const config of [{}, { rollouts }]) {
  const { before, after, metrics } = await learnStories(folder, { steps: Number(steps), config });
  const curve = (name: string) => metrics.map((of) => Number(of[name]!.toPrecision(3)));
  console.log(
    JSON.stringify({
      generatedBy: config.rollouts ?? 'this process',
      before: before.reward,
      after: after.reward,
      perplexity: after.perplexity,
      scores: curve('objective/scores'),
      mismatch: curve('val/rollout_mismatch'),
      generateSeconds: curve('timing/generate'),
    }),
  );
}

/** Logprobs of the server's tokens next to those of the exact policy, whose adapter is not zero. With a
 *  filter they differ by the probability that it removes. */
async function compareLogprobs(
  loaded: LoadedModel,
  config: { readonly temperature: number; readonly topP?: number },
) {
  const trainer = new PPOTrainer(
    { rollouts, maxNewTokens: 64, samplesPerPrompt: 4, batchSize: 16, ...config },
    { model: loaded, rewards: () => 0 },
  );
  const { policy, jobs } = await trainer.components();
  for (const [name, { data }] of policy.adapter!.weights) {
    const random = randomStream(0, name);
    if (!name.includes('lora_B')) continue;
    for (let i = 0; i < data.length; i++) data[i] = 0.01 * random.normal();
  }
  const prompts = openings.map((text) => loaded.tokenizer.encode(text));
  const { temperature, topP = 1 } = config;
  const generation = { maxNewTokens: 64, numReturnSequences: 4, temperature, topP };
  const texts = await jobs.rollOut({ prompts, generation });
  const again = await jobs.rollOut({ prompts, generation });
  const exact = await policy.logprobs(
    texts.map(({ promptTokens }) => promptTokens),
    texts.map(({ tokens }) => tokens),
    { temperature },
  );
  const plain = await new PPOTrainer({}, { model: loaded, rewards: () => 0 }).components();
  const base = await plain.reference.logprobs(
    texts.map(({ promptTokens }) => promptTokens),
    texts.map(({ tokens }) => tokens),
    { temperature },
  );
  const differences = (other: readonly Float32Array[]) =>
    texts.flatMap(({ samplingLogprobs }, i) =>
      Array.from(samplingLogprobs, (logprob, t) => Math.abs(logprob - other[i]![t]!)),
    );
  const all = differences(exact.logprobs);
  const mean = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0) / numbers.length;
  await trainer.dispose();
  return {
    tokens: all.length,
    mean: mean(all),
    max: Math.max(...all),
    /** Without the adapter: shows that the server applies it. */
    meanToBase: mean(differences(base.logprobs)),
    sameTextsAgain: texts.filter(({ text }, i) => text === again[i]!.text).length / texts.length,
    finished: texts.filter(({ finishReason }) => finishReason === 'stop').length,
  };
}
