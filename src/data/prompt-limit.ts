/** How many tokens a prompt may have. */
export interface PromptLimit {
  readonly maxTokens: number;
  /** Why, to stand in brackets behind it. */
  readonly reason: string;
  /** How to allow more. */
  readonly remedy: string;
}

export interface PromptLimitOptions {
  readonly maxPromptTokens?: number | undefined;
  /** Longest text the model takes; no limit if not given. */
  readonly contextLength?: number | undefined;
  /** What a response may add to a prompt; 0 by default. */
  readonly maxNewTokens?: number | undefined;
}

/** The smaller of maxPromptTokens and contextLength − maxNewTokens.
 *  @example { maxPromptTokens: 512, contextLength: 256, maxNewTokens: 50 }  →  206 tokens */
export function promptLimit(options: PromptLimitOptions): PromptLimit {
  const { maxPromptTokens = Infinity, contextLength = Infinity, maxNewTokens = 0 } = options;
  const room = contextLength - maxNewTokens;
  if (room < 1) {
    throw new RangeError(
      `Cannot use prompts: maxNewTokens must be below the model's context of ${contextLength} tokens, got ${maxNewTokens}`,
    );
  }
  if (maxPromptTokens <= room) {
    return { maxTokens: maxPromptTokens, reason: 'maxPromptTokens', remedy: 'raise it' };
  }
  return {
    maxTokens: room,
    reason: `the model's ${contextLength} less ${maxNewTokens} new ones`,
    remedy: 'lower maxNewTokens',
  };
}
