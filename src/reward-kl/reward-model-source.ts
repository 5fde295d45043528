import type { RewardModel } from '../models/reward-model.ts';
import { groupByTokens, sizesOf } from '../models/token-batch.ts';
import type { RewardSample, RewardScore, RewardSource, ScoreContext } from './reward-source.ts';
import { checkScores } from './score-samples.ts';

/** Scores from a reward model or a user's subclass of it, which reads the token ids of prompt and
 *  response. */
export class RewardModelSource implements RewardSource {
  readonly name: string;
  /** A large batch may take long, and local computation cannot hang. */
  readonly timeout = Infinity;
  private readonly model: Pick<RewardModel, 'forward'>;

  /** @param options.name the class name by default */
  constructor(model: Pick<RewardModel, 'forward'>, options: { readonly name?: string } = {}) {
    this.model = model;
    this.name = options.name ?? model.constructor.name;
  }

  /** Runs the model's own groups of samples one by one, to notice an abort in between. */
  async score(
    samples: readonly RewardSample[],
    { signal, onScored }: ScoreContext,
  ): Promise<readonly RewardScore[]> {
    const sequences = samples.map(({ promptTokens, tokens }) => {
      const whole = new Int32Array(promptTokens.length + tokens.length);
      whole.set(promptTokens);
      whole.set(tokens, promptTokens.length);
      return whole;
    });
    const scores: RewardScore[] = [];
    for (const { start, end } of groupByTokens(sizesOf(sequences))) {
      signal.throwIfAborted();
      const group = await this.model.forward(sequences.slice(start, end));
      const request = { name: this.name, samples: samples.slice(start, end), first: start };
      scores.push(...checkScores(group, request));
      for (let i = start; i < end; i++) onScored?.(i);
    }
    return scores;
  }
}
