import { type Bpe, wordPattern } from './train-bpe.ts';

/** Ends a text. */
const endToken = '<|endoftext|>';
const padToken = '<|pad|>';

/** The tokens that training must keep whole. */
export const specialTokens: readonly string[] = [endToken, padToken];

const byteLevel = {
  type: 'ByteLevel',
  add_prefix_space: false,
  trim_offsets: false,
  use_regex: false,
} as const;

/** tokenizer.json in Hugging Face's form, as Qwen's but for the vocabulary. */
export function makeTokenizerJson({ tokens, merges }: Bpe) {
  const split = {
    type: 'Split',
    pattern: { Regex: wordPattern },
    behavior: 'Isolated',
    invert: false,
  } as const;
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: specialTokens.map((content) => ({
      id: tokens.indexOf(content),
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: { type: 'NFC' },
    pre_tokenizer: { type: 'Sequence', pretokenizers: [split, byteLevel] },
    post_processor: byteLevel,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: '',
      end_of_word_suffix: '',
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges,
    },
  };
}

/** tokenizer_config.json, as transformers reads it. */
export function makeTokenizerConfig({ contextLength }: { readonly contextLength: number }) {
  return {
    tokenizer_class: 'PreTrainedTokenizerFast',
    model_max_length: contextLength,
    clean_up_tokenization_spaces: false,
    bos_token: null,
    eos_token: endToken,
    pad_token: padToken,
    unk_token: null,
  };
}
