import type { PPOConfig } from '../../config/ppo-config.ts';
import type { LoraConfig } from './lora-config.ts';

/** The adapter that a config asks for, as PEFT describes it. */
export function loraOf(
  config: Pick<PPOConfig, 'loraR' | 'loraAlpha' | 'loraDropout' | 'loraTargets'>,
): LoraConfig {
  const { loraR, loraAlpha, loraDropout, loraTargets } = config;
  return {
    r: loraR,
    lora_alpha: loraAlpha,
    lora_dropout: loraDropout,
    target_modules: loraTargets.includes('all-linear') ? 'all-linear' : loraTargets,
  };
}
