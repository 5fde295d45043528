import { LoraAdapter } from '../../src/base-setup/lora/lora-adapter.ts';
import { toLoraConfig } from '../../src/base-setup/lora/lora-config.ts';
import { concatFloats } from '../../src/columns/index.ts';
import { resolvePPOConfig } from '../../src/config/ppo-config.ts';
import { embeddedFolder } from '../../src/embedded/embedded-files.ts';
import { randomStream } from '../../src/engine/random/random-stream.ts';
import type { Experience } from '../../src/experience-buffer/experience.ts';
import { loadModel, PolicyModel } from '../../src/models/index.ts';
import { ModelTrainer } from '../../src/training/model-trainer.ts';
import { time } from '../measure.ts';
import { peakMegabytes, serveUpdates } from '../serve-updates.ts';
import type { SmallShape } from '../small-update.ts';

const WARMUP = 3;

/** Trains the embedded model's policy on random tokens, one optimiser step per request. */
async function serveSmallUpdates(shape: SmallShape): Promise<void> {
  const { base, tokenizer } = await loadModel(embeddedFolder);
  const config = resolvePPOConfig({
    ...{ batchSize: shape.sequences, maxNewTokens: shape.response_tokens },
    loraTargets: ['all-linear'],
  });
  const adapter = LoraAdapter.create(
    toLoraConfig(config, base.architecture.config),
    base.modules(),
    'policy',
  );
  const policy = new PolicyModel({ base, tokenizer, adapter });
  const trainer = new ModelTrainer({ config, policy });
  let number = 0;
  const update = async () => {
    const experience = await makeExperience(policy, { shape, number: number++ });
    return time(() => trainer.trainStep(experience));
  };
  for (let warmup = 0; warmup < WARMUP; warmup++) await update();
  await serveUpdates({
    ready: {},
    update: async () => ({ seconds: (await update()) / 1000 }),
    finish: async () => ({ peak_rss_mb: peakMegabytes() }),
  });
}

/** Random texts with their log π_old and random advantages; not part of the measured time. */
async function makeExperience(
  policy: PolicyModel,
  { shape, number }: { readonly shape: SmallShape; readonly number: number },
): Promise<Experience> {
  const random = randomStream('small-update', number);
  const { vocab_size } = policy.base.architecture.config;
  const randomTokens = (length: number) =>
    Int32Array.from({ length }, () => random.integer(vocab_size));
  const indices = Array.from({ length: shape.sequences }, (_, i) => i);
  const prompts = indices.map(() => randomTokens(shape.prompt_tokens));
  const responses = indices.map(() => randomTokens(shape.response_tokens));
  const count = shape.sequences * shape.response_tokens;
  const old = concatFloats((await policy.logprobs(prompts, responses)).logprobs);
  const offsets = Int32Array.from([...indices, shape.sequences], (i) => i * shape.response_tokens);
  return {
    sequences: prompts.map((promptTokens, promptIdx) => ({
      ...{ promptIdx, sample: 0, promptText: '', promptTokens },
      ...{ text: '', pieces: [], finished: false },
    })),
    ...{ offsets, stepOffsets: offsets },
    tokens: Int32Array.from(responses.flatMap((part) => [...part])),
    ...{ logprobs: old, refLogprobs: old, kl: new Float32Array(count) },
    scores: new Float32Array(shape.sequences),
    advantages: Float32Array.from({ length: count }, () => random.normal()),
    ...{ rewards: new Float32Array(count), values: new Float32Array(count) },
    returns: new Float32Array(count),
  };
}

await serveSmallUpdates(JSON.parse(process.argv[2]!));
