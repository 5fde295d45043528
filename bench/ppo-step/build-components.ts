import { LoraAdapter } from '../../src/base-setup/lora/lora-adapter.ts';
import { toLoraConfig } from '../../src/base-setup/lora/lora-config.ts';
import { loadTokenizer, type Tokenizer } from '../../src/base-setup/tokenizer/index.ts';
import { resolvePPOConfig } from '../../src/config/ppo-config.ts';
import type { PromptRecord } from '../../src/data/index.ts';
import { embeddedFolder } from '../../src/embedded/embedded-files.ts';
import { chooseBasePrecision } from '../../src/models/decoder/base-precision.ts';
import { RewardModel, randomHead } from '../../src/models/index.ts';
import { buildComponents, type PPOComponents } from '../../src/ppo-trainer/components.ts';
import { qwen3Model } from '../qwen3.ts';
import type { CaseRequest } from './cases.ts';

/** Builds the components of a PPO step at a Qwen3 model's shape; the reward model has its own adapter. */
export async function caseComponents(request: CaseRequest): Promise<PPOComponents> {
  const { basePrecision = 'f32', loraLayers } = request;
  const precision =
    basePrecision === 'auto' ? (await chooseBasePrecision()).precision : basePrecision;
  const config = resolvePPOConfig({
    ...{ batchSize: request.prompts.length, samplesPerPrompt: request.samples },
    ...{ maxNewTokens: request.maxNewTokens, ppoEpochs: request.epochs },
    ...{ rolloutPrecision: request.precision, advantageEstimator: 'gae' as const },
    ...(loraLayers !== undefined && { loraLayers: [loraLayers].flat().join('-') }),
    ...{ basePrecision: precision, ...request.config },
  });
  const base = await qwen3Model({ size: request.size, layers: request.layers, precision });
  const tokenizer = await endingTokenizer(request, base.architecture.config.vocab_size);
  const lora = toLoraConfig(config, base.architecture.config);
  const adapter = LoraAdapter.create(lora, base.modules(), 'reward');
  const head = randomHead(base.architecture.config.hidden_size);
  const rewardModel = new RewardModel({ base, tokenizer, adapter, head });
  const model = { base, tokenizer, folder: '' };
  return buildComponents(config, model, { rewardModel, warn: console.error });
}

/** A tokenizer that only decodes, and treats part of the vocabulary as stop tokens. */
async function endingTokenizer({ endsOneIn }: CaseRequest, vocabulary: number): Promise<Tokenizer> {
  const tokenizer = await loadTokenizer(embeddedFolder);
  const count = endsOneIn === undefined ? 0 : Math.floor(vocabulary / endsOneIn);
  const eosIds = Array.from({ length: count }, (_, i) => i * endsOneIn!);
  return Object.create(tokenizer, { eosIds: { value: eosIds } }) as Tokenizer;
}

/** Prompts of the requested lengths, each with different tokens. */
export function makePrompts({ prompts }: CaseRequest): PromptRecord[] {
  return prompts.map((length, prompt) => ({
    text: '',
    tokens: Int32Array.from({ length }, (_, i) => 1000 * (prompt + 1) + i),
    row: {},
  }));
}
