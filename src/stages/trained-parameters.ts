import type { LoraConfig } from '../base-setup/lora/lora-config.ts';
import type { StageConfig } from '../config/stage-config.ts';
import type { ParameterGroup } from '../engine/optim/index.ts';
import type { Weights } from '../models/index.ts';

/** The config's adapter. */
export function loraOf(
  config: Pick<StageConfig, 'loraR' | 'loraAlpha' | 'loraDropout' | 'loraTargets'>,
): LoraConfig {
  const { loraR, loraAlpha, loraDropout, loraTargets } = config;
  return {
    r: loraR,
    lora_alpha: loraAlpha,
    lora_dropout: loraDropout,
    target_modules: loraTargets.includes('all-linear') ? 'all-linear' : loraTargets,
  };
}

/** Matrices decay; norms, biases and heads do not. */
export function parameterGroups(
  weights: Weights,
  { learningRate, weightDecay }: { learningRate: number; weightDecay: number },
): ParameterGroup[] {
  const pick = (isMatrix: boolean) =>
    Object.fromEntries(
      [...weights]
        .filter(([, { shape }]) => shape.length > 1 === isMatrix)
        .map(([name, { data }]) => [name, data]),
    );
  return [
    { parameters: pick(true), learningRate, weightDecay },
    { parameters: pick(false), learningRate },
  ];
}
