import type { Batch, PausedSequence } from './batch.ts';
import type { GenerationOptions } from './generation-options.ts';
import { MAX_CACHE_BYTES, savedBytes } from './kv-cache.ts';
import type { Observation } from './observation.ts';
import type { GeneratedText } from './sequence.ts';

interface PausedEpisode extends PausedSequence {
  readonly answer: Promise<Pick<Observation, 'tokens' | 'text'> | undefined>;
}

/**
 * Episodes that wait for their environment. Answers are computed concurrently as turns end, and used
 * together in the order of the turns: what runs in one batch never depends on how long a tool takes, so
 * the same answers always lead to the same bits.
 */
export class PausedEpisodes {
  private readonly options: Pick<GenerationOptions, 'environment' | 'signal'>;
  private episodes: PausedEpisode[] = [];

  /** @param options without an environment, nothing ever waits */
  constructor(options: Pick<GenerationOptions, 'environment' | 'signal'>) {
    this.options = options;
  }

  get size(): number {
    return this.episodes.length;
  }

  /** Asks the environment what follows the turns that have just ended. */
  take(batch: Batch): void {
    const { environment, signal } = this.options;
    if (environment === undefined) return;
    const used = this.episodes.reduce((sum, { saved }) => sum + savedBytes(saved), 0);
    for (const paused of batch.endedTurns(MAX_CACHE_BYTES - used)) {
      const { parts, lastTurn } = paused.sequence;
      const { end: _, ...turn } = lastTurn;
      const { prompt, sample } = parts;
      const answer = environment.respond({ prompt, sample, ...turn }, { signal });
      // A failure is thrown by `settle`; until then it must not count as unhandled.
      answer.catch(() => {});
      this.episodes.push({ ...paused, answer });
    }
  }

  /** Waits for all answers. Returns the episodes that continue and the texts of those that end. */
  async settle(): Promise<{ continued: PausedSequence[]; finished: GeneratedText[] }> {
    const answers = await Promise.all(this.episodes.map(({ answer }) => answer));
    const continued: PausedSequence[] = [];
    const finished: GeneratedText[] = [];
    for (const [i, { sequence, saved }] of this.episodes.entries()) {
      const answer = answers[i];
      const ended = sequence.finishReason!;
      if (answer === undefined || ended === 'length') finished.push(sequence.finish(ended));
      else if (!sequence.hasRoom(answer.tokens.length)) finished.push(sequence.finish('length'));
      else {
        sequence.observe(answer);
        continued.push({ sequence, saved });
      }
    }
    this.episodes = [];
    return { continued, finished };
  }
}
