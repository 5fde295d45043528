import type { ClipRange } from '../../../training/policy-loss-clip.ts';

/** What a run's config says of the numbers of a token. */
export interface ArithmeticConfig {
  readonly advantageEstimator: string;
  readonly klEstimator: string;
  readonly klPlacement: string;
  readonly rewardPlacement: string;
  readonly scoreNormalization: string;
  readonly scoreClip: number | undefined;
  readonly missingEosPenalty: number;
  readonly whitenRewards: boolean;
  readonly ratioLevel: string;
  /** Cap of the weight of tokens that were drawn otherwise than by π_old; 0 where they have none. */
  readonly weightCap: number;
  /** Why tokens are drawn otherwise, in words; undefined where they are not. */
  readonly drawnBy: string | undefined;
  /** Undefined where the config has no ε. */
  readonly clip: ClipRange | undefined;
}

/** Reads those values from a run's config.json; one that is missing has the default of PPO's config. */
export function readArithmeticConfig(config: Readonly<Record<string, unknown>>): ArithmeticConfig {
  const text = (name: string, otherwise: string) => {
    const value = config[name];
    return typeof value === 'string' ? value : otherwise;
  };
  const number = (name: string) => {
    const value = config[name];
    return typeof value === 'number' ? value : undefined;
  };
  const low = number('clipEpsilon');
  const high = number('clipEpsilonHigh') ?? low;
  const dual = number('dualClip');
  return {
    advantageEstimator: text('advantageEstimator', 'gae'),
    klEstimator: text('klEstimator', 'k1'),
    klPlacement: text('klPlacement', 'reward'),
    rewardPlacement: text('rewardPlacement', 'final'),
    scoreNormalization: text('scoreNormalization', 'none'),
    scoreClip: number('scoreClip'),
    missingEosPenalty: number('missingEosPenalty') ?? 0,
    whitenRewards: config.whitenRewards === true,
    ratioLevel: text('ratioLevel', 'token'),
    weightCap: number('rolloutCorrection') ?? 0,
    drawnBy: describeDrawing(config),
    clip: low === undefined || high === undefined ? undefined : { low, high, dual },
  };
}

/** @example { rolloutPrecision: 'int8', topP: 0.9 }  →  'rolloutPrecision int8 and topP 0.9' */
function describeDrawing(config: Readonly<Record<string, unknown>>): string | undefined {
  // Of these values, every token can be drawn.
  const open: Readonly<Record<string, number | undefined>> = { topK: undefined, topP: 1, minP: 0 };
  const filters = Object.keys(open).filter(
    (name) => typeof config[name] === 'number' && config[name] !== open[name],
  );
  const reasons = [
    ...(config.rolloutPrecision === 'int8' ? ['rolloutPrecision int8'] : []),
    ...filters.map((name) => `${name} ${config[name]}`),
  ];
  return reasons.length === 0 ? undefined : reasons.join(' and ');
}
