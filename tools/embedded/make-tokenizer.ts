import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTokenizerConfig, makeTokenizerJson, specialTokens } from './tokenizer-files.ts';
import { trainBpe } from './train-bpe.ts';
import { makeWorldTexts } from './world-texts.ts';

/** The smallest vocabulary in which every word of the world is one token. */
const VOCABULARY = 964;

export interface TokenizerOptions {
  readonly seed: number;
  readonly contextLength: number;
}

/** Trains the embedded model's tokenizer and writes its files; gives the size of its vocabulary. */
export function makeTokenizer(folder: string, { seed, contextLength }: TokenizerOptions): number {
  const texts = makeWorldTexts('pretraining', { seed, count: 10_000 });
  const bpe = trainBpe(texts, { vocabSize: VOCABULARY, specialTokens });
  const write = (name: string, content: object) =>
    writeFileSync(join(folder, name), `${JSON.stringify(content)}\n`);
  write('tokenizer.json', makeTokenizerJson(bpe));
  write('tokenizer_config.json', makeTokenizerConfig({ contextLength }));
  return bpe.tokens.length;
}
