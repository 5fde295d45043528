/** Builds everything of `embedded/` from nothing: tokenizer, pretrained and fine-tuned model,
 *  preferences. The same seed gives the same files on the same kind of machine:
 *  npm run build:embedded [-- --out embedded --seed 0] */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadTokenizer } from '../../src/base-setup/index.ts';
import { createModel, loadModel, readArchitecture, saveModel } from '../../src/models/index.ts';
import { makePreferences } from './make-preferences.ts';
import { makeTokenizer } from './make-tokenizer.ts';
import { fineTune, learnFacts, pretrain } from './train-language.ts';

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'embedded' },
    seed: { type: 'string', default: '0' },
    steps: { type: 'string', default: '1' },
  },
});
const seed = Number(values.seed);
/** Below 1 for a trial. */
const share = Number(values.steps);

/** 1.1M parameters. */
const shape = {
  model_type: 'qwen3',
  hidden_size: 128,
  intermediate_size: 352,
  num_hidden_layers: 5,
  num_attention_heads: 4,
  num_key_value_heads: 4,
  head_dim: 32,
  max_position_embeddings: 192,
  tie_word_embeddings: true,
  rope_theta: 10_000,
};

const work = mkdtempSync(join(tmpdir(), 'proximal-embedded-'));
try {
  const contextLength = shape.max_position_embeddings;
  const vocabSize = makeTokenizer(work, { seed, contextLength });
  const tokenizer = await loadTokenizer(work);
  const architecture = readArchitecture({ ...shape, vocab_size: vocabSize });
  const fresh = { base: createModel(architecture, seed), tokenizer, folder: work };
  await pretrain(fresh, { seed, steps: Math.ceil(250 * share) });
  await learnFacts(fresh, { seed, steps: Math.ceil(1100 * share) });
  await fineTune(fresh, { seed, steps: Math.ceil(80 * share) });
  mkdirSync(values.out, { recursive: true });
  const config = { eos_token_id: tokenizer.eosIds[0]!, pad_token_id: tokenizer.padId };
  await saveModel(work, fresh.base, { config });
  await saveModel(values.out, fresh.base, { source: work, config, dtype: 'BF16' });
  const sft = await loadModel(values.out);
  const lines = await makePreferences(sft, { seed, count: Math.ceil(3200 * share) });
  writeFileSync(
    join(values.out, 'preferences.jsonl'),
    lines.map((l) => `${JSON.stringify(l)}\n`).join(''),
  );
} finally {
  rmSync(work, { recursive: true });
}
