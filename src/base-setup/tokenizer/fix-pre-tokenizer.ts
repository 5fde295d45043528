/** A part of the `pre_tokenizer` of a tokenizer.json. */
export interface PreTokenizerConfig {
  readonly type: string;
  readonly pretokenizers?: readonly PreTokenizerConfig[];
  readonly individual_digits?: boolean;
  readonly add_prefix_space?: boolean;
  readonly use_regex?: boolean;
  readonly replacement?: string;
  readonly split?: boolean;
}

/** GPT-2's pattern of words. */
const words = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/** Rewrites the parts that @huggingface/tokenizers interprets differently from the native library:
 *  digits are not only 0 to 9 (SmolLM2), U+0085 is a space and U+FEFF is not (GPT-2), and
 *  sentencepiece's words may be split. */
export function fixPreTokenizer<T extends PreTokenizerConfig | null | undefined>(
  config: T,
): T | PreTokenizerConfig {
  if (config == null) return config;
  const { type, pretokenizers = [], replacement = '▁' } = config;
  if (type === 'Sequence') {
    return { ...config, pretokenizers: pretokenizers.map((one) => fixPreTokenizer(one)) };
  }
  if (type === 'Digits') return isolate(config.individual_digits ? '\\p{N}' : '\\p{N}+');
  // With a prefix space the library must see the whole text.
  if (type === 'ByteLevel' && config.use_regex !== false && !config.add_prefix_space) {
    return sequence(isolate(words), { ...config, use_regex: false });
  }
  if (type === 'Metaspace' && config.split !== false) {
    return sequence(config, isolate(`${replacement}[^${replacement}]*|[^${replacement}]+`));
  }
  return config;
}

/** Splits a text around the matches of a pattern. */
function isolate(Regex: string): PreTokenizerConfig {
  const split = { type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false };
  return split;
}

function sequence(...pretokenizers: PreTokenizerConfig[]): PreTokenizerConfig {
  return { type: 'Sequence', pretokenizers };
}
