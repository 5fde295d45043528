import type { ChatMessage, Tokenizer } from '../base-setup/tokenizer/index.ts';
import { type RenderRowOptions, renderRow, templateFault } from './completion-render.ts';
import { encodeAfter, endWithEos, joinTokens } from './completion-tokens.ts';
import { renderChat, type Turn } from './line-chat.ts';
import { LineFault } from './line-fault.ts';

/** A part of a text, and whether the model learns to write it. */
export interface Segment {
  readonly text: string;
  readonly isTrained: boolean;
}

/** The parts of a row; one after another they are its whole text. */
export interface SegmentedRow {
  readonly segments: readonly Segment[];
  /** Whether the chat template made them, which writes special tokens itself. */
  readonly isChat: boolean;
}

/** A prompt that is given, and a completion that is trained. */
export function segmentCompletion(
  { prompt, completion }: { readonly prompt: Turn; readonly completion: Turn },
  options: RenderRowOptions,
): SegmentedRow {
  const rendered = renderRow({ prompt, completions: [completion] }, options);
  const { promptText, completionTexts, isChat } = rendered;
  const segments = [
    { text: promptText, isTrained: false },
    { text: completionTexts[0]!, isTrained: true },
  ];
  return { segments, isChat };
}

/** A conversation of which the assistant's turns are trained, each with what the template writes
 *  behind it to end the turn. What comes after the last of them is left out.
 *  @example Qwen's `user\nHi<|im_end|>\n<|im_start|>assistant\n` is given, `Hello<|im_end|>` trained */
export function segmentChat(
  messages: readonly ChatMessage[],
  options: Omit<RenderRowOptions, 'chat'>,
): SegmentedRow {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const turns = messages.slice(0, last + 1);
  const whole = renderChat(turns, { ...options, addGenerationPrompt: false });
  const spans = turns.flatMap(({ role }, i) =>
    role === 'assistant' ? [findTurn(turns, { ...options, i, whole })] : [],
  );
  const turnEnd = whole.slice(spans.at(-1)!.end).trimEnd();
  const segments: Segment[] = [];
  let at = 0;
  for (const { start, end: textEnd } of spans) {
    const end = whole.startsWith(turnEnd, textEnd) ? textEnd + turnEnd.length : textEnd;
    segments.push({ text: whole.slice(at, start), isTrained: false });
    segments.push({ text: whole.slice(start, end), isTrained: true });
    at = end;
  }
  return { segments, isChat: true };
}

interface TurnOptions extends Omit<RenderRowOptions, 'chat'> {
  readonly i: number;
  /** The turns as the template writes them. */
  readonly whole: string;
}

/** Where the text of turn i stands in the whole, from the start of the answer on. Its end is found by
 *  a conversation with another text in its place, as a short one may occur in the template too. */
function findTurn(
  turns: readonly ChatMessage[],
  { i, whole, ...options }: TurnOptions,
): { start: number; end: number } {
  const { origin } = options;
  const { content, tool_calls } = turns[i]!;
  if (typeof content !== 'string' || content.trim() === '' || tool_calls != null) {
    const got = tool_calls == null ? 'one without' : 'one with tool calls';
    const fault = `each turn of the assistant must be text, got ${got}`;
    const reason = tool_calls == null ? 'empty-completion' : 'wrong-type';
    throw new LineFault(`Cannot read ${origin}: ${fault}`, { reason, origin });
  }
  const before = turns.slice(0, i);
  const given = i === 0 ? '' : renderChat(before, { ...options, addGenerationPrompt: true });
  const other = unusedText(whole);
  const changed = renderChat(turns.with(i, { ...turns[i]!, content: other }), {
    ...options,
    addGenerationPrompt: false,
  });
  const rest = changed.slice(changed.indexOf(other) + other.length);
  if (!whole.startsWith(given) || !whole.endsWith(rest)) throw templateFault(origin);
  return { start: given.length, end: whole.length - rest.length };
}

/** @example 'a xx b'  →  'xxx' */
function unusedText(text: string): string {
  let unused = 'x';
  while (text.includes(unused)) unused += 'x';
  return unused;
}

/** Tokens of a text, and which of them the model learns to write. */
export interface SegmentTokens {
  readonly tokens: Int32Array;
  /** 1 where a token is trained; never the first, as nothing comes before it. */
  readonly lossMask: Uint8Array;
}

export interface EncodeSegmentsOptions {
  readonly tokenizer: Tokenizer;
  /** Whether the tokenizer adds what the model wants around a plain text. */
  readonly addSpecialTokens: boolean;
  readonly appendEos: boolean;
}

/** Encodes parts so that no token reaches across a border of theirs.
 *  @example [a cat] given and [sees a dog] trained, then EOS
 *    →  tokens [4 5 7 4 6 1], mask [0 0 1 1 1 1] */
export function encodeSegments(
  segments: readonly Segment[],
  { tokenizer, addSpecialTokens, appendEos }: EncodeSegmentsOptions,
): SegmentTokens {
  let before = '';
  const parts = segments.map(({ text }, i) => {
    const part =
      i === 0
        ? tokenizer.encode(text, { addSpecialTokens })
        : encodeAfter(before, text, { tokenizer });
    before += text;
    return appendEos && i === segments.length - 1 ? endWithEos(part, tokenizer) : part;
  });
  const tokens = joinTokens(parts);
  const lossMask = new Uint8Array(tokens.length);
  let at = 0;
  for (const [i, { length }] of parts.entries()) {
    if (segments[i]!.isTrained) lossMask.fill(1, at, at + length);
    at += length;
  }
  lossMask[0] = 0;
  return { tokens, lossMask };
}
