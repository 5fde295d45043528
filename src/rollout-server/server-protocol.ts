import type { LikelyTokens } from '../generation/index.ts';

/** Responses that a server generates to one prompt. */
export interface CompletionRequest {
  /** Name of a loaded adapter; the plain base without it. */
  readonly adapter?: string | undefined;
  readonly promptTokens: ArrayLike<number>;
  /** Number of responses. */
  readonly samples: number;
  /** Seed of the first response; the k-th one has seed + k. */
  readonly seed: number;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly topK: number | undefined;
  readonly topP: number;
  readonly minP: number;
  readonly stopStrings: readonly string[];
  readonly stopTokenIds: readonly number[];
  /** Most probable tokens to report at each position; none by default. */
  readonly topLogprobs?: number | undefined;
}

/** One response as a server reports it. */
export interface Completion {
  readonly tokens: readonly number[];
  /** Of each token, under the distribution that it was sampled from. */
  readonly logprobs: readonly number[];
  /** Only with `topLogprobs`. */
  readonly alternatives?: readonly LikelyTokens[] | undefined;
  readonly finishReason: 'stop' | 'length';
}

/** Cancels a request. */
export interface SignalOptions {
  readonly signal: AbortSignal;
}

/** The routes and field names of one kind of server. Tokens go in and come out as ids. */
export interface ServerProtocol {
  /** Requires a version with the needed routes; returns the longest text if the server reports it. */
  check(signal: AbortSignal): Promise<{ readonly maxLength: number | undefined }>;
  /** Loads an adapter from a folder under a name that is not in use. */
  loadAdapter(name: string, folder: string, options: SignalOptions): Promise<void>;
  /** Removes an adapter; does nothing if the server does not know it, as after a restart. */
  unloadAdapter(name: string, signal: AbortSignal): Promise<void>;
  /** Generates all responses to a prompt; undefined if the server does not know the adapter. */
  complete(
    request: CompletionRequest,
    signal: AbortSignal,
  ): Promise<readonly Completion[] | undefined>;
  /** How the server is started so that logprobs are those of the sampled distribution. */
  readonly logprobsRemedy: string;
}

/** Tokens with their logprobs, most probable first; servers report excluded tokens with a very small
 *  number. */
export function likelyTokens(
  tokens: readonly { readonly id: number; readonly logprob: number }[],
  count: number,
): LikelyTokens {
  const likely = tokens
    .filter(({ logprob }) => logprob > -1000)
    .sort((a, b) => b.logprob - a.logprob)
    .slice(0, count);
  return {
    ids: Int32Array.from(likely, ({ id }) => id),
    logprobs: Float32Array.from(likely, ({ logprob }) => logprob),
  };
}
