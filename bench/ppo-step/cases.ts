import type { PPOConfigOptions } from '../../src/config/ppo-config.ts';
import type { RolloutPrecision } from '../../src/generation/decode-weights.ts';

/** One kind of PPO update. */
export interface StepCase {
  /** Tokens of each prompt. */
  readonly prompts: readonly number[];
  /** Responses to each prompt. */
  readonly samples: number;
  /** The longest response. */
  readonly maxNewTokens: number;
  /** One in so many tokens of the vocabulary ends a response; none does if not given. */
  readonly endsOneIn?: number;
  readonly epochs: number;
}

export type CaseName = 'default' | 'mixed' | 'samples';

export const stepCases: Readonly<Record<CaseName, StepCase>> = {
  default: { prompts: [64, 64, 64, 64], samples: 1, maxNewTokens: 32, epochs: 1 },
  mixed: { prompts: [16, 64, 128, 256], samples: 1, maxNewTokens: 64, endsOneIn: 32, epochs: 1 },
  samples: { prompts: [64, 64, 64, 64], samples: 4, maxNewTokens: 32, epochs: 1 },
};

/** What a child process is told to measure. */
export interface CaseRequest extends StepCase {
  readonly repeats: number;
  readonly threads: number;
  readonly precision: RolloutPrecision;
  readonly layers: number;
  /** Further settings of the step. */
  readonly config?: PPOConfigOptions;
}
