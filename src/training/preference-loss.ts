/** Scores of pairs, alternating: chosen, rejected, chosen, … */
export interface PairScores {
  readonly scores: Float32Array;
  /** Margin by which the chosen one should win, [pairs]. */
  readonly margins: ArrayLike<number>;
  /** Probability that the chosen one wins: 1, ½ for a tie, [pairs]. */
  readonly targets: ArrayLike<number>;
  /** Weight of each pair, [pairs]. */
  readonly weights: ArrayLike<number>;
  /** Weight of all pairs of the optimiser step. */
  readonly totalWeight: number;
}

export interface PreferenceLoss {
  /** This part's share of the step's loss. */
  readonly loss: number;
  /** ∂L/∂score, [2 · pairs]. */
  readonly dScores: Float32Array;
  /** Weight of pairs that have a better side: p ≠ ½. */
  readonly judged: number;
  /** Weight of the pairs whose better side, chosen if p > ½, has the higher score; equal scores count ½. */
  readonly correct: number;
  /** Σ w (s_better − s_worse) over the same pairs. */
  readonly margin: number;
}

/**
 * The Bradley–Terry loss with margins and soft targets (arXiv:2307.09288, arXiv:2009.01325):
 * L = −(1/W) Σ w [p log σ(d − m) + (1 − p) log σ(m − d)], d = s_chosen − s_rejected.
 * ∂L/∂s_chosen = w (σ(d − m) − p)/W = −∂L/∂s_rejected
 * @example one pair with p=1, m=0, s=[1, 0]  →  L = log(1 + e⁻¹) = 0.3133, dScores ∓0.2689
 */
export function preferenceLoss(pairs: PairScores): PreferenceLoss {
  const { scores, margins, targets, weights, totalWeight } = pairs;
  const dScores = new Float32Array(scores.length);
  let [loss, judged, correct, margin] = [0, 0, 0, 0];
  for (let i = 0; i < scores.length / 2; i++) {
    const [p, w] = [targets[i]!, weights[i]! / totalWeight];
    const d = scores[2 * i]! - scores[2 * i + 1]!;
    const z = d - margins[i]!;
    loss += w * (p * softplus(-z) + (1 - p) * softplus(z));
    const slope = w * (1 / (1 + Math.exp(-z)) - p);
    dScores[2 * i] = slope;
    dScores[2 * i + 1] = -slope;
    if (p === 0.5) continue;
    const lead = p > 0.5 ? d : -d;
    judged += weights[i]!;
    correct += weights[i]! * (lead === 0 ? 0.5 : Number(lead > 0));
    margin += weights[i]! * lead;
  }
  return { loss, dScores, judged, correct, margin };
}

/** ∂L/∂s of each score as a function of the scores: w·(σ(s − s_rival − m) − p), where the rival of a chosen
 *  text is the rejected one and the reverse; without rivals w·(σ(s) − p). */
export interface LogisticSlopes {
  /** Index of the rival's score, [N]. */
  readonly rivals?: Int32Array;
  /** [N]; only with rivals. */
  readonly margins?: Float32Array;
  readonly targets: Float32Array;
  readonly weights: Float32Array;
}

/** The slopes of `preferenceLoss`, two per pair: for the rejected text, σ(−z) − (1 − p) = p − σ(z).
 *  @example one pair with p=1, m=½  →  rivals [1, 0], margins [½, −½], targets [1, 0], weights [1, 1] */
export function preferenceSlopes(pairs: Omit<PairScores, 'scores'>): LogisticSlopes {
  const { margins, targets, weights, totalWeight } = pairs;
  const count = 2 * targets.length;
  const alternate = (of: (pair: number, isChosen: boolean) => number) =>
    Float32Array.from({ length: count }, (_, i) => of(i >> 1, i % 2 === 0));
  return {
    rivals: Int32Array.from({ length: count }, (_, i) => i ^ 1),
    margins: alternate((i, isChosen) => (isChosen ? margins[i]! : -margins[i]!)),
    targets: alternate((i, isChosen) => (isChosen ? targets[i]! : 1 - targets[i]!)),
    weights: alternate((i) => weights[i]! / totalWeight),
  };
}

/** The slopes of `ratingLoss`. */
export function ratingSlopes(ratings: ArrayLike<number>, count: number): LogisticSlopes {
  const weights = new Float32Array(ratings.length).fill(1 / count);
  return { targets: Float32Array.from(ratings), weights };
}

/** log(1 + e^x) without overflow. */
function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}

/** The loss of ratings in 0 … 1: L = −(1/n) Σ [y log σ(s) + (1 − y) log σ(−s)], whose best s is the
 *  log-odds of y.
 *  @example y=¾, s=0, n=1  →  L = log 2 = 0.6931, dScore = ½ − ¾ = −¼ */
export function ratingLoss(
  scores: Float32Array,
  ratings: ArrayLike<number>,
  count: number,
): Pick<PreferenceLoss, 'loss' | 'dScores'> {
  let loss = 0;
  const dScores = scores.map((s, i) => {
    const y = ratings[i]!;
    loss += (y * softplus(-s) + (1 - y) * softplus(s)) / count;
    return (1 / (1 + Math.exp(-s)) - y) / count;
  });
  return { loss, dScores };
}
