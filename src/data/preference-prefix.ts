import { isDeepStrictEqual } from 'node:util';
import type { ChatMessage } from '../base-setup/tokenizer/index.ts';

/** Two texts, or two conversations, cut behind what they have in common. */
export interface SplitSides<T> {
  readonly prompt: T;
  readonly chosen: T;
  readonly rejected: T;
}

/** Opens the assistant's turns in Anthropic's HH dialogues. */
const assistantMark = '\n\nAssistant:';

/** Finds the prompt that two texts begin with: prompt + chosen and prompt + rejected are the texts.
 *
 *  In HH dialogues it ends with the last `\n\nAssistant:` that both have. In other texts it ends as
 *  late as both go on with white space, which belongs to the word behind it, or stand at the start
 *  of a line, and have something left; it is empty where there is no such place.
 *  @example 'Q: 2 + 2?\nA: 4', 'Q: 2 + 2?\nA: 5'  →  'Q: 2 + 2?\nA:', ' 4', ' 5'
 *  @example 'The cat sat', 'The cat sits'          →  'The cat', ' sat', ' sits' */
export function splitTexts(chosen: string, rejected: string): SplitSides<string> {
  const common = commonLength(chosen, rejected);
  const mark = chosen.slice(0, common).lastIndexOf(assistantMark);
  const end = mark >= 0 ? mark + assistantMark.length : findBoundary(chosen, { rejected, common });
  return {
    prompt: chosen.slice(0, end),
    chosen: chosen.slice(end),
    rejected: rejected.slice(end),
  };
}

/** Finds the prompt that two conversations begin with: all messages they share, up to the last that
 *  is not the assistant's.
 *  @example [u1, a1, u2, a2], [u1, a1, u2, b2]  →  [u1, a1, u2], [a2], [b2] */
export function splitConversations(
  chosen: readonly ChatMessage[],
  rejected: readonly ChatMessage[],
): SplitSides<readonly ChatMessage[]> {
  let end = 0;
  while (end < chosen.length && isDeepStrictEqual(chosen[end], rejected[end])) end++;
  while (end > 0 && chosen[end - 1]!.role === 'assistant') end--;
  return {
    prompt: chosen.slice(0, end),
    chosen: chosen.slice(end),
    rejected: rejected.slice(end),
  };
}

function commonLength(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  let i = 0;
  while (i < end && a[i] === b[i]) i++;
  return i;
}

function findBoundary(
  chosen: string,
  { rejected, common }: { readonly rejected: string; readonly common: number },
): number {
  const isSpace = (character: string | undefined) =>
    character !== undefined && /\s/.test(character);
  let end = Math.min(common, chosen.length - 1, rejected.length - 1);
  for (; end > 0; end--) {
    if (chosen[end - 1] === '\n') return end;
    if (isSpace(chosen[end]) && isSpace(rejected[end])) return end;
  }
  return 0;
}
