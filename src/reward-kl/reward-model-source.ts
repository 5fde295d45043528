import type { RewardModel } from '../models/reward-model.ts';
import { groupByTokens, sizesOf } from '../models/token-batch.ts';
import { checkScores } from './check-scores.ts';
import type { RewardSample, RewardSource, Score, ScoreContext } from './reward-source.ts';

/** Scores from a reward model, or from a class of the user's that extends it: it reads the ids of
 *  prompt and response. */
export class RewardModelSource implements RewardSource {
  readonly name: string;
  /** A large batch may take long, and work on this machine cannot hang. */
  readonly timeout = Infinity;
  private readonly model: Pick<RewardModel, 'forward'>;

  /** @param options.name the class's own if not given */
  constructor(model: Pick<RewardModel, 'forward'>, options: { readonly name?: string } = {}) {
    this.model = model;
    this.name = options.name ?? model.constructor.name;
  }

  /** Runs as many samples at once as the model would, so that an abort is seen in between. */
  async score(
    samples: readonly RewardSample[],
    { signal, onScored }: ScoreContext,
  ): Promise<readonly Score[]> {
    const sequences = samples.map(({ promptTokens, tokens }) => {
      const whole = new Int32Array(promptTokens.length + tokens.length);
      whole.set(promptTokens);
      whole.set(tokens, promptTokens.length);
      return whole;
    });
    const scores: Score[] = [];
    for (const { start, end } of groupByTokens(sizesOf(sequences))) {
      signal.throwIfAborted();
      const group = await this.model.forward(sequences.slice(start, end));
      const asked = { name: this.name, samples: samples.slice(start, end), first: start };
      scores.push(...checkScores(group, asked));
      for (let i = start; i < end; i++) onScored?.(i);
    }
    return scores;
  }
}
