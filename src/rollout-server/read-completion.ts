import type { GeneratedText } from '../generation/index.ts';
import type { Sequence } from '../generation/sequence.ts';
import type { Completion } from './server-protocol.ts';

/** Rounding errors of a server may lift the logprob of a certain token above 0. */
const LOGPROB_TOLERANCE = 1e-3;

/**
 * Builds a text from a server's tokens by the rules of local generation: it ends at the first stop
 * token or stop string, and what follows is dropped. Returns a description of the problem if the tokens
 * are not usable.
 */
export function readCompletion(
  sequence: Sequence,
  { tokens, logprobs, alternatives, finishReason }: Completion,
  { vocabSize }: { readonly vocabSize: number },
): GeneratedText | string {
  if (tokens.length === 0) return 'must generate at least one token per response, got none';
  if (logprobs.length !== tokens.length) {
    return `must report one logprob per token, got ${logprobs.length} for ${tokens.length} tokens`;
  }
  for (const [t, token] of tokens.entries()) {
    const logprob = logprobs[t]!;
    if (token < 0 || token >= vocabSize) {
      return `must generate tokens below ${vocabSize}, the size of the vocabulary, got ${token}; serve the base model of this run`;
    }
    if (!(logprob <= LOGPROB_TOLERANCE && logprob > -Infinity)) {
      return `must report logprobs of at most 0, got ${logprob} for token ${token}`;
    }
    const samplingLogprob = Math.min(logprob, 0);
    const { finished } = sequence.accept({
      token,
      // Recomputed later by the policy that is trained.
      logprob: samplingLogprob,
      samplingLogprob,
      ...(alternatives && { alternatives: alternatives[t]! }),
    });
    if (finished !== undefined) return finished;
  }
  return sequence.end(finishReason);
}
