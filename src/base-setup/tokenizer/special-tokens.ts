import {
  type AddedTokenConfig,
  type NamedToken,
  namedTokens,
  type TokenIds,
  type TokenizerConfig,
  type TokenizerFiles,
  type TokenRole,
} from './tokenizer-files.ts';

/** What is needed to find special tokens. */
export interface Vocabulary {
  /** One more than the largest id. */
  readonly size: number;
  /** Tokens that are added to the model's vocabulary, special or not. */
  readonly added: readonly { readonly id: number; readonly content: string }[];
  idOf(token: string): number | undefined;
}

export interface SpecialTokens {
  readonly bosId: number | undefined;
  /** Every token that ends a text. */
  readonly eosIds: readonly number[];
  readonly padId: number;
  /** The tokens' names in chat templates. */
  readonly names: Readonly<Record<string, string>>;
}

/** Finds the special tokens in a model's files. EOS tokens are all those in tokenizer_config.json and
 *  generation_config.json (else config.json): a chat model has several. */
export function findSpecialTokens(files: TokenizerFiles, vocabulary: Vocabulary): SpecialTokens {
  const { config, model, generation } = files;
  const names: Record<string, string> = {};
  for (const key of namedTokens) {
    const token = config[key];
    if (token != null) names[key] = contentOf(token);
  }
  const idOf = (key: TokenRole) =>
    names[key] === undefined ? undefined : vocabulary.idOf(names[key]);
  for (const key of ['bos_token', 'eos_token'] as const) {
    if (names[key] !== undefined && idOf(key) === undefined) {
      throw new RangeError(
        `${key} must be in the vocabulary, got "${names[key]}"; correct tokenizer_config.json`,
      );
    }
  }
  const eos = [idOf('eos_token'), ...listOf(generation.eos_token_id ?? model.eos_token_id ?? [])];
  const eosIds = [...new Set(eos.filter((id) => id !== undefined))];
  // `"bos_token": null` means that there is none, even if other files of the model have one.
  const fallback = config.bos_token === null ? undefined : (bosOf(generation) ?? bosOf(model));
  const bosId = idOf('bos_token') ?? fallback;
  const padId = choosePad(
    { ...files, eosIds, bosId, pad: idOf('pad_token'), unk: idOf('unk_token') },
    vocabulary,
  );
  return { bosId, eosIds, padId, names };
}

interface PadSources extends TokenizerFiles {
  readonly eosIds: readonly number[];
  readonly bosId: number | undefined;
  readonly pad: number | undefined;
  readonly unk: number | undefined;
}

/** PAD must never be an EOS token, otherwise a sampled EOS would look like padding. The first of
 *  these that is neither BOS nor EOS:
 *  1. the token in tokenizer_config.json, then generation_config.json, then config.json;
 *  2. an added token whose name contains `pad` (Qwen's `<|vision_pad|>`, Llama 3's
 *     `<|finetune_right_pad_id|>`), then one that is `reserved` or `unused`;
 *  3. the unknown token (Llama 2's `<unk>`);
 *  4. an id beyond vocabulary and embedding, which no text has and no model may receive.
 *  @example Qwen3, eos [<|im_end|>, <|endoftext|>], pad <|endoftext|>  →  <|vision_pad|>
 *  @example GPT-2, eos [50256], vocabulary and embedding of 50257, no pad  →  50257 */
function choosePad(sources: PadSources, vocabulary: Vocabulary): number {
  const { eosIds, bosId, pad, unk, generation, model } = sources;
  const { added, size } = vocabulary;
  const named = (pattern: RegExp) =>
    added.filter(({ content }) => pattern.test(content)).map(({ id }) => id);
  const candidates = [
    pad,
    generation.pad_token_id,
    model.pad_token_id,
    ...named(/^\W*pad\W*$/i),
    ...named(/\bpad|pad\b|_pad_/i),
    ...named(/reserved|unused/i),
    unk,
  ];
  const isFree = (id: number | null | undefined) =>
    id != null && id >= 0 && id < size && id !== bosId && !eosIds.includes(id);
  return candidates.find(isFree) ?? Math.max(size, model.vocab_size ?? 0);
}

function contentOf(token: NamedToken): string {
  return typeof token === 'string' ? token : token.content;
}

function listOf(ids: number | readonly number[]): readonly number[] {
  return typeof ids === 'number' ? [ids] : ids;
}

function bosOf({ bos_token_id }: TokenIds): number | undefined {
  return bos_token_id ?? undefined;
}

/** The ids that `skipSpecialTokens` omits. */
export function findSpecialIds(
  added: readonly AddedTokenConfig[],
  { config, vocabulary }: { config: TokenizerConfig; vocabulary: Vocabulary },
): Set<number> {
  const named = [
    ...namedTokens.map((key) => config[key]),
    ...Object.values(config.additional_special_tokens ?? {}),
    ...Object.values(config.extra_special_tokens ?? {}),
  ];
  const ids = named.map((token) => (token == null ? undefined : vocabulary.idOf(contentOf(token))));
  const special = added.filter((token) => token.special).map(({ id }) => id);
  return new Set([...special, ...ids.filter((id) => id !== undefined)]);
}
