/** Builds everything in `embedded/` from nothing: tokenizer, pretrained and fine-tuned model,
 *  preferences. The same seed produces the same files on the same kind of machine.
 *  npm run build:embedded [-- --out embedded --seed 0 --work FOLDER]
 *  With `--work`, each stage is saved there and an interrupted build continues after the last one. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadTokenizer } from '../../src/base-setup/index.ts';
import {
  createModel,
  type LoadedModel,
  loadModel,
  readArchitecture,
  saveModel,
} from '../../src/models/index.ts';
import { makePreferences } from './make-preferences.ts';
import { makeTokenizer } from './make-tokenizer.ts';
import { fineTune, type LanguageOptions, learnFacts, pretrain } from './train-language.ts';

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'embedded' },
    seed: { type: 'string', default: '0' },
    steps: { type: 'string', default: '1' },
    work: { type: 'string' },
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

interface Stage {
  readonly name: string;
  readonly steps: number;
  readonly train: (model: LoadedModel, options: LanguageOptions) => Promise<void>;
}

const stages: readonly Stage[] = [
  { name: 'language', steps: 300, train: pretrain },
  { name: 'facts', steps: 2400, train: learnFacts },
  { name: 'sft', steps: 400, train: fineTune },
];

const work = values.work ?? mkdtempSync(join(tmpdir(), 'proximal-embedded-'));
try {
  mkdirSync(work, { recursive: true });
  const model = await trainModel(work);
  const { tokenizer, base } = model;
  mkdirSync(values.out, { recursive: true });
  const config = { eos_token_id: tokenizer.eosIds[0]!, pad_token_id: tokenizer.padId };
  await saveModel(values.out, base, { source: work, config, dtype: 'BF16' });
  const sft = await loadModel(values.out);
  const lines = await makePreferences(sft, { seed, count: Math.ceil(1600 * share) });
  writeFileSync(
    join(values.out, 'preferences.jsonl'),
    lines.map((l) => `${JSON.stringify(l)}\n`).join(''),
  );
} finally {
  if (values.work === undefined) rmSync(work, { recursive: true });
}

/** Runs the stages that are not in the folder yet. */
async function trainModel(folder: string): Promise<LoadedModel> {
  const contextLength = shape.max_position_embeddings;
  const vocabSize = makeTokenizer(folder, { seed, contextLength });
  const tokenizer = await loadTokenizer(folder);
  const config = { eos_token_id: tokenizer.eosIds[0]!, pad_token_id: tokenizer.padId };
  const done = stages.filter(({ name }) => existsSync(join(folder, name, 'model.safetensors')));
  const last = done.at(-1);
  const base =
    last === undefined
      ? createModel(readArchitecture({ ...shape, vocab_size: vocabSize }), seed)
      : (await loadModel(join(folder, last.name))).base;
  const model = { base, tokenizer, folder };
  await saveModel(folder, base, { config });
  for (const { name, steps, train } of stages.slice(last ? stages.indexOf(last) + 1 : 0)) {
    await train(model, { seed, steps: Math.ceil(steps * share) });
    await saveModel(join(folder, name), base, { source: folder, config });
  }
  return model;
}
