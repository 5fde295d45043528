import type { PPOConfigOptions } from '../../src/config/ppo-config.ts';
import type { RolloutPrecision } from '../../src/generation/decode-weights.ts';

/** The shape of one PPO update. */
export interface StepCase {
  /** Tokens per prompt. */
  readonly prompts: readonly number[];
  /** Responses per prompt. */
  readonly samples: number;
  /** Maximum tokens per response. */
  readonly maxNewTokens: number;
  /** One in this many vocabulary tokens is a stop token; none if missing. */
  readonly endsOneIn?: number;
  readonly epochs: number;
}

export type CaseName = 'default' | 'mixed' | 'samples';

export const stepCases: Readonly<Record<CaseName, StepCase>> = {
  default: { prompts: [64, 64, 64, 64], samples: 1, maxNewTokens: 32, epochs: 1 },
  mixed: { prompts: [16, 64, 128, 256], samples: 1, maxNewTokens: 64, endsOneIn: 32, epochs: 1 },
  samples: { prompts: [64, 64, 64, 64], samples: 4, maxNewTokens: 32, epochs: 1 },
};

/** What a child process measures. */
export interface CaseRequest extends StepCase {
  readonly repeats: number;
  readonly threads: number;
  readonly precision: RolloutPrecision;
  readonly layers: number;
  /** Overrides of the step's config. */
  readonly config?: PPOConfigOptions;
}
