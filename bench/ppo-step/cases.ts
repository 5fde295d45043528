import type { PPOConfigOptions } from '../../src/config/ppo-config.ts';
import type { RolloutPrecision } from '../../src/generation/decode-weights.ts';
import type { Qwen3Size } from '../qwen3.ts';

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

/** Layers with adapters: this many upper layers, or from the first to the last, both included. */
export type LoraLayers = number | readonly [number, number];

/** What a child process measures. */
export interface CaseRequest extends StepCase {
  readonly threads: number;
  /** Rollout precision. */
  readonly precision: RolloutPrecision;
  /** Precision of the base's weights; the config's default if missing. */
  readonly basePrecision?: PPOConfigOptions['basePrecision'];
  /** All layers if missing. */
  readonly loraLayers?: LoraLayers | undefined;
  /** 0.6B by default. */
  readonly size?: Qwen3Size | undefined;
  /** The model's own number by default. */
  readonly layers?: number | undefined;
  /** Overrides of the step's config. */
  readonly config?: PPOConfigOptions;
}

/** The first and the last layer with adapters.
 *  @example the upper 8 of 28 layers  →  [20, 27] */
export function layerRange(
  loraLayers: LoraLayers,
  layerCount: number,
): readonly [first: number, last: number] {
  const [first, last] =
    typeof loraLayers === 'number' ? [layerCount - loraLayers, layerCount - 1] : loraLayers;
  if (first < 0 || last >= layerCount) {
    throw new RangeError(
      `Cannot use --lora-layers: the model has layers 0 to ${layerCount - 1}, got ${first} to ${last}`,
    );
  }
  return [first, last];
}
