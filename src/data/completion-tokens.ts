import type { Tokenizer } from '../base-setup/tokenizer/index.ts';

/** How much of the text before has a say in where the first token begins, in characters: more than
 *  the last word. */
const contextLength = 64;

/** The tokens of a text that follows another, whose tokens stay as they are: in PPO too the prompt
 *  is encoded before anybody knows its response.
 *
 *  They are what both texts' tokens have beyond the first's. Where a token would reach across the
 *  border, the text is encoded on its own.
 *  @example Llama 2, ' b' after 'A:'  →  [▁b], where ' b' on its own would be [▁▁ b] */
export function encodeAfter(
  before: string,
  text: string,
  { tokenizer }: { readonly tokenizer: Tokenizer },
): Int32Array {
  const encode = (some: string) => tokenizer.encode(some, { addSpecialTokens: false });
  const context = before.slice(-contextLength);
  const start = encode(context);
  const both = encode(context + text);
  return start.every((id, i) => id === both[i]) ? both.slice(start.length) : encode(text);
}

/** The tokens with the tokenizer's EOS behind them, unless they end with one.
 *  @example [5, 7], EOS 1  →  [5, 7, 1];  [5, 1]  →  [5, 1] */
export function endWithEos(tokens: Int32Array, tokenizer: Tokenizer): Int32Array {
  const last = tokens.at(-1);
  return last !== undefined && tokenizer.eosIds.includes(last)
    ? tokens
    : joinTokens([tokens, Int32Array.of(tokenizer.eosIds[0]!)]);
}

/** Asks for an EOS token before any row is read. */
export function expectEos(tokenizer: Tokenizer): void {
  if (tokenizer.eosIds.length > 0) return;
  throw new TypeError(
    'Cannot end completions: the tokenizer must have an EOS token, got none; name it in tokenizer_config.json, or set appendEos to false',
  );
}

export function joinTokens(parts: readonly Int32Array[]): Int32Array {
  const joined = new Int32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
