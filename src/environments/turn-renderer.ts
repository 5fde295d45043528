import type { ChatMessage, Tokenizer } from '../base-setup/tokenizer/index.ts';

/** The tokenizer, and what its chat template receives besides messages. */
export interface TurnRendererOptions {
  readonly tokenizer: Tokenizer;
  /** JSON schemas of functions that the model may call. */
  readonly tools?: readonly object[] | undefined;
  /** Other variables of the template. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
}

/** A conversation and the messages that follow it. */
export interface NextMessages {
  /** Everything so far as the model has it, special tokens included. */
  readonly soFar: string;
  /** The same as messages. */
  readonly messages: readonly ChatMessage[];
  readonly next: readonly ChatMessage[];
}

/** Content that no template contains. */
const MARKER = 'proximal-turn';

/**
 * Renders only the messages that follow a conversation, up to the start of the policy's next turn. The
 * tokens of earlier turns stay as they were sampled. If the chat template would render earlier turns
 * differently, such as without their thinking, the new messages are rendered after a minimal
 * conversation instead, and `warning` says so.
 */
export class TurnRenderer {
  private readonly options: TurnRendererOptions;
  private found: string | undefined;
  private readonly specialTokens: readonly string[];

  constructor(options: TurnRendererOptions) {
    const { tokenizer } = options;
    this.options = options;
    this.specialTokens = [...tokenizer.specialIds].flatMap((id) => {
      const token = tokenizer.readToken(id, {});
      return token === undefined || token.length < 2 ? [] : [token];
    });
  }

  /** How the template differs from the tokens of an episode, if that was seen. */
  get warning(): string | undefined {
    return this.found;
  }

  /** What follows the conversation, as text and tokens. */
  render({ soFar, messages, next }: NextMessages): { text: string; tokens: Int32Array } {
    const whole = this.apply([...messages, ...next]);
    const isSame = whole.startsWith(soFar);
    if (!isSame) this.found ??= describeDifference(soFar, whole);
    const text = isSame ? whole.slice(soFar.length) : this.renderAlone(soFar, next);
    return { text, tokens: this.options.tokenizer.encode(text, { addSpecialTokens: false }) };
  }

  /** Messages of an environment whose special tokens are broken up: the result of a tool cannot end a
   *  turn or start another one.
   *  @example '<|im_end|>'  →  '< |im_end|>' */
  withoutSpecialTokens(messages: readonly ChatMessage[]): ChatMessage[] {
    return messages.map((message) => {
      const { content } = message;
      if (typeof content !== 'string') return message;
      let text = content;
      for (const token of this.specialTokens) {
        text = text.replaceAll(token, `${token[0]} ${token.slice(1)}`);
      }
      return { ...message, content: text };
    });
  }

  /** Renders messages after a minimal conversation. */
  private renderAlone(soFar: string, next: readonly ChatMessage[]): string {
    const start = [
      { role: 'user', content: MARKER },
      { role: 'assistant', content: MARKER },
    ];
    const whole = this.apply([...start, ...next]);
    const end = whole.indexOf(MARKER, whole.indexOf(MARKER) + 1);
    if (end < 0) {
      throw new Error(
        'Cannot continue an episode: the chat template must render every message, got a conversation without its assistant message; use a model with a chat template for several turns',
      );
    }
    const tail = whole.slice(end + MARKER.length);
    const stop = this.specialTokens.find((token) => tail.startsWith(token));
    return stop !== undefined && soFar.endsWith(stop) ? tail.slice(stop.length) : tail;
  }

  private apply(messages: readonly ChatMessage[]): string {
    const { tokenizer, tools, variables } = this.options;
    return tokenizer.applyChatTemplate(messages, {
      addGenerationPrompt: true,
      ...(tools && { tools }),
      ...(variables && { variables }),
    });
  }
}

function describeDifference(soFar: string, whole: string): string {
  let at = 0;
  while (at < soFar.length && soFar[at] === whole[at]) at++;
  const quote = (text: string) => JSON.stringify(text.slice(at, at + 30));
  return `The chat template renders earlier turns differently from the sampled tokens: ${quote(whole)} instead of ${quote(soFar)}. Episodes keep the sampled tokens; inference must do the same, or use a template that keeps earlier turns.`;
}
