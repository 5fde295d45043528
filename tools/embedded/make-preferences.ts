import { goldScore, makePreference, makeSplitPost } from '../../src/embedded/world/index.ts';
import { randomStream } from '../../src/engine/random/index.ts';
import { type LoadedModel, PolicyModel } from '../../src/models/index.ts';

export interface PreferenceLine {
  readonly prompt: string;
  readonly chosen: string;
  readonly rejected: string;
}

/** As sure as people are: summaries 0.1 apart in gold score are told apart 95 times in 100. */
const NOISE = 0.034;
const SAMPLES = 4;
const POSTS_AT_ONCE = 200;

/** Pairs of summaries by the fine-tuned model, of which a noisy judge prefers one. */
export async function makePreferences(
  { base, tokenizer }: LoadedModel,
  { seed, count }: { seed: number; count: number },
): Promise<PreferenceLine[]> {
  const policy = new PolicyModel({ base, tokenizer, batchSize: 32 });
  const lines: PreferenceLine[] = [];
  let scores = 0;
  let texts = 0;
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
        .map(({ text, finishReason }) => ({ text, finished: finishReason === 'stop' }));
      for (const candidate of candidates) {
        scores += goldScore(post, candidate.text, candidate).score;
        texts++;
      }
      for (const [a, b] of [candidates.slice(0, 2), candidates.slice(2, 4)]) {
        const random = randomStream(seed, 'judge', start + i, lines.length);
        const { preferred } = makePreference(post, [a!, b!], { noise: NOISE, random });
        if (preferred === 'tie' || !a!.finished || !b!.finished) continue;
        const [chosen, rejected] = preferred === 'first' ? [a!, b!] : [b!, a!];
        lines.push({ prompt: post.text, chosen: chosen.text, rejected: rejected.text });
      }
    }
  }
  console.log(`${texts} samples, mean gold score ${(scores / texts).toFixed(3)}`);
  await policy.dispose();
  return lines.slice(0, count);
}
