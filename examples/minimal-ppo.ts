/** PPO on one page, built from the package's components. PPOTrainer does the same and more.
 *  npx tsx examples/minimal-ppo.ts [model]: a model's folder or hub id, or a tiny random one. */
import {
  createModel,
  type LoadedModel,
  LoraAdapter,
  loadModel,
  PolicyModel,
  readArchitecture,
  resolvePPOConfig,
  Tokenizer,
  ValueModel,
  zeroHead,
} from 'proximal';
import {
  AdvantageComputer,
  ExperienceBuffer,
  ModelTrainer,
  placeRewards,
  TokenAttributor,
  ValueAdder,
} from 'proximal/components';

const [modelName] = process.argv.slice(2);
const config = resolvePPOConfig({
  maxNewTokens: 12,
  klCoef: 0.02,
  ppoEpochs: 4,
  // A tiny random model needs high rates.
  ...(modelName === undefined && { learningRate: 2e-3, valueLearningRate: 2e-3 }),
});
const steps = 12;
const prompts = ['the cat', 'a dog', 'the dog and', 'a cat and'];
const samplesPerPrompt = 4;

/** R: fraction of the words that are "cat". */
function reward(response: string): number {
  const words = response.split(/\s+/);
  return words.filter((word) => word === 'cat').length / words.length;
}

// The roles: policy, reference and value model, over one copy of the base.
const { base, tokenizer } = modelName === undefined ? makeTinyModel() : await loadModel(modelName);
const lora = { r: 16, lora_alpha: 32, target_modules: 'all-linear' } as const;
const adapterOf = (role: string) => LoraAdapter.create(lora, base.modules(), role);
const policy = new PolicyModel({ base, tokenizer, adapter: adapterOf('policy'), batchSize: 16 });
const reference = new PolicyModel({ base, tokenizer });
const head = zeroHead(base.architecture.config.hidden_size);
const value = new ValueModel({ base, head, adapter: adapterOf('value') });

const attributor = new TokenAttributor({ reference });
const valueAdder = new ValueAdder(value);
const advantageComputer = new AdvantageComputer(config);
const buffer = new ExperienceBuffer();
const modelTrainer = new ModelTrainer({ config, policy, value });

for (let step = 1; step <= steps; step++) {
  // 1. Generate sequences. Each step has its own random numbers, by its key.
  const texts = await policy.generate(prompts, {
    maxNewTokens: config.maxNewTokens,
    numReturnSequences: samplesPerPrompt,
    streamKey: [step],
  });
  // 2, 3. (State, action) pairs, with KL_t = log π_old − log π_ref.
  const rollout = await attributor.attribute(texts, prompts);
  // 4. Rewards of sequences.
  const scores = Float32Array.from(texts, ({ text }) => reward(text));
  // 5. Rewards of tokens: r_t = −β·KL_t, and R on the last token.
  const placed = placeRewards({ ...rollout, scores }, config);
  // 6. Values V(s_t).
  const values = await valueAdder.addValues(rollout, placed.stepOffsets);
  // 7, 8, 9. δ_t = r_t + γV_{t+1} − V_t, A_t = δ_t + γλA_{t+1}, G_t = A_t + V_t.
  const priced = { ...rollout, ...placed, scores, values };
  const experience = { ...priced, ...advantageComputer.computeAdvantages(priced) };
  // 10, 11. Value model towards G_t, policy by the clipped ratio, several times over the same texts.
  buffer.store(experience);
  for (let ppoEpoch = 0; ppoEpoch < config.ppoEpochs; ppoEpoch++) {
    for (const batch of buffer.miniBatches(8, { step, ppoEpoch })) {
      await modelTrainer.trainStep(batch);
    }
  }
  buffer.clear();
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  console.log(`step ${step}: reward ${mean.toFixed(3)}`);
}
await policy.dispose();
await reference.dispose();

/** A random Qwen3 of one layer whose tokens are eight words. */
function makeTinyModel(): Pick<LoadedModel, 'base' | 'tokenizer'> {
  const special = ['<pad>', '<eos>'];
  const tokens = [...special, ...'the a cat dog sees likes and runs'.split(' ')];
  const architecture = readArchitecture({
    model_type: 'qwen3',
    vocab_size: tokens.length,
    hidden_size: 256,
    intermediate_size: 256,
    num_hidden_layers: 1,
    num_attention_heads: 4,
    head_dim: 64,
    max_position_embeddings: 32,
    tie_word_embeddings: true,
  });
  const vocab = Object.fromEntries(tokens.map((token, id) => [token, id]));
  const tokenizer = {
    added_tokens: special.map((content, id) => ({ id, content, special: true })),
    pre_tokenizer: { type: 'WhitespaceSplit' },
    model: { type: 'WordLevel', vocab, unk_token: '<pad>' },
    ...{ normalizer: null, post_processor: null, decoder: null },
  };
  const files = { config: { pad_token: '<pad>', eos_token: '<eos>' }, model: {}, generation: {} };
  return {
    base: createModel(architecture),
    tokenizer: new Tokenizer({ ...files, tokenizer, chatTemplate: undefined }),
  };
}
