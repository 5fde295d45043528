import type { Tokenizer } from '../base-setup/tokenizer/index.ts';
import { concatInts } from '../columns/index.ts';
import { endWithEos } from '../data/completion-render.ts';
import { insertObservations } from '../generation/index.ts';
import type { LayerRole } from '../models/index.ts';
import { RewardModel } from '../models/reward-model.ts';
import { groupByTokens, sizesOf } from '../models/token-batch.ts';
import { inOrder } from '../training/in-order.ts';
import type { RewardSample, RewardScore, RewardSource, ScoreContext } from './reward-source.ts';
import { checkScores } from './score-samples.ts';

/** A reward model, or anything with its `forward` and, to leave out stop strings, its tokenizer. */
type ScoringModel = Pick<RewardModel, 'forward'> &
  Partial<Pick<RewardModel, 'tokenizer' | 'base' | 'adapter'>>;

/** Scores from a reward model or a user's subclass of it, which reads the token ids of prompt and
 *  response: the same text that other sources see. */
export class RewardModelSource implements RewardSource {
  readonly name: string;
  /** A large batch may take long, and local computation cannot hang. */
  readonly timeout = Infinity;
  private readonly model: ScoringModel;

  /** @param options.name the class name by default */
  constructor(model: ScoringModel, options: { readonly name?: string | undefined } = {}) {
    this.model = model;
    this.name = options.name ?? model.constructor.name;
  }

  get role(): LayerRole | undefined {
    const { base, adapter } = this.model;
    return base && { base, adapter };
  }

  /** Whether the scores are those of this model. */
  uses(model: RewardModel): boolean {
    return this.model === model;
  }

  /** Runs the model's own groups of samples one by one, to notice an abort in between. */
  async score(
    samples: readonly RewardSample[],
    { signal, onScored, trunk, scoreTexts }: ScoreContext,
  ): Promise<readonly RewardScore[]> {
    const { tokenizer } = this.model;
    const sequences = samples.map((sample) => {
      const { promptTokens, observations = [] } = sample;
      const isEpisode = observations.length > 0;
      const tokens = tokenizer && !isEpisode ? visibleTokens(sample, tokenizer) : sample.tokens;
      return concatInts([promptTokens, insertObservations(tokens, observations)]);
    });
    const groups = groupByTokens(sizesOf(sequences));
    // A subclass has its own code, which does not travel.
    const model = this.model.constructor === RewardModel ? (this.model as RewardModel) : undefined;
    const isRemote = scoreTexts !== undefined && model !== undefined;
    const scoreGroup = ({ start, end }: (typeof groups)[number], part: number) => {
      signal.throwIfAborted();
      const group = sequences.slice(start, end);
      return isRemote
        ? scoreTexts(model, group, { part, signal })
        : this.model.forward(group, undefined, { trunk });
    };
    const scores: RewardScore[] = [];
    let done = 0;
    for await (const group of inOrder({ isRemote }, groups, scoreGroup)) {
      const { start, end } = groups[done++]!;
      const request = { name: this.name, samples: samples.slice(start, end), first: start };
      scores.push(...checkScores(group, request));
      for (let i = start; i < end; i++) onScored?.(i);
    }
    return scores;
  }
}

/** The tokens of a response without its stop string. The EOS token replaces the stop string, as in the
 *  texts that reward models are trained on.
 *  @example 'Yes.\n\nQ:' of the tokens [Yes] [.] [\n\n] [Q] [:] with stop '\n\nQ:'  →  [Yes] [.] [EOS] */
function visibleTokens(
  { response, tokens, promptTokens, finished }: RewardSample,
  tokenizer: Tokenizer,
): Int32Array {
  const after = promptTokens.slice(-1);
  const decode = (end: number) => tokenizer.decode(tokens.subarray(0, end), { after });
  const isStopToken = tokenizer.eosIds.includes(tokens.at(-1)!);
  const whole = isStopToken ? response : decode(tokens.length);
  if (!finished || whole === response || !whole.startsWith(response)) return tokens;
  let count = tokens.length - 1;
  while (count > 0 && !response.startsWith(decode(count))) count--;
  // A stop string may start inside a token, whose first part is then encoded again.
  const rest = response.slice(decode(count).length);
  const restTokens = tokenizer.encode(rest, { addSpecialTokens: false });
  const visible = concatInts([tokens.subarray(0, count), restTokens]);
  return tokenizer.eosIds.length === 0 ? visible : endWithEos(visible, tokenizer);
}
