import { makeSplitPost, rankSummaries } from '../../src/embedded/world/index.ts';
import { randomStream } from '../../src/engine/random/index.ts';
import { type LoadedModel, PolicyModel } from '../../src/models/index.ts';

export interface PreferenceLine {
  readonly prompt: string;
  readonly chosen: string;
  readonly rejected: string;
}

/** As people are, mostly sure: of summaries 0.2 apart in gold score, the better one is seen as such
 *  95 times in 100. */
const NOISE = 0.07;
const SAMPLES = 4;
const POSTS_AT_ONCE = 200;

/** A noisy judge puts four summaries by the fine-tuned model in order; the best and the worst make a
 *  pair. */
export async function makePreferences(
  { base, tokenizer }: LoadedModel,
  { seed, count }: { seed: number; count: number },
): Promise<PreferenceLine[]> {
  const policy = new PolicyModel({ base, tokenizer, batchSize: 64 });
  const lines: PreferenceLine[] = [];
  const judged = { pairs: 0, wrong: 0 };
  for (let start = 0; lines.length < count; start += POSTS_AT_ONCE) {
    const posts = Array.from({ length: POSTS_AT_ONCE }, (_, i) =>
      makeSplitPost('preferences', { seed, number: start + i }),
    );
    const samples = await policy.generate(
      posts.map(({ text }) => text),
      { maxNewTokens: 64, numReturnSequences: SAMPLES, seed, streamKey: ['preferences', start] },
    );
    for (const [i, post] of posts.entries()) {
      const candidates = samples
        .filter(({ prompt }) => prompt === i)
        .filter(({ text, finishReason }) => finishReason === 'stop' && text.trim() !== '')
        .map(({ text }) => ({ text, finished: true }));
      const random = randomStream(seed, 'judge', start + i);
      const ranked = rankSummaries(post, candidates, { noise: NOISE, random });
      const [best, worst] = [ranked[0], ranked.at(-1)];
      if (best === undefined || worst === undefined || best.score === worst.score) continue;
      judged.pairs++;
      if (best.score < worst.score) judged.wrong++;
      const [chosen, rejected] = [candidates[best.index]!.text, candidates[worst.index]!.text];
      lines.push({ prompt: post.text, chosen, rejected });
    }
  }
  console.log(`${judged.pairs} pairs, ${judged.wrong} of them against the gold score`);
  await policy.dispose();
  return lines.slice(0, count);
}
