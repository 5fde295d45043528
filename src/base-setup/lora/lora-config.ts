import { defaultLoraFields, type LoraFields } from '../../config/lora-config.ts';

/** An adapter's shape, with PEFT's names. */
export interface LoraConfig {
  readonly r: number;
  readonly lora_alpha: number;
  /** Module names or the ends of them, such as q_proj; all linear modules if missing. */
  readonly target_modules?: readonly string[] | 'all-linear';
  /** Fraction of a module's inputs that the adapter drops in a training step; 0 if missing. */
  readonly lora_dropout?: number;
  /** Scale by the square root of the rank (arXiv:2312.03732). */
  readonly use_rslora?: boolean;
}

/** The adapter that the fields of a config describe. */
export function toLoraConfig({
  loraR,
  loraAlpha,
  loraDropout,
  loraTargets,
}: LoraFields): LoraConfig {
  return {
    r: loraR,
    lora_alpha: loraAlpha,
    lora_dropout: loraDropout,
    target_modules: loraTargets.includes('all-linear') ? 'all-linear' : loraTargets,
  };
}

/** The adapter of a config that says nothing about it: rank 16 on the projections of attention. */
export const defaultLoraConfig: LoraConfig = toLoraConfig(defaultLoraFields);

/** Whether an adapter has weights for a module: a target is the whole name or the end of it, as in
 *  PEFT. */
export function isTarget(module: string, lora: LoraConfig | undefined): boolean {
  if (lora === undefined) return false;
  const targets = lora.target_modules ?? 'all-linear';
  return targets === 'all-linear' || targets.some((target) => matchesModule(target, module));
}

/** @example 'q_proj' matches 'self_attn.q_proj', but not 'fq_proj' */
export function matchesModule(target: string, module: string): boolean {
  return module === target || module.endsWith(`.${target}`);
}

/** What B·A is multiplied by: alpha / r, or alpha / √r if rank-stabilised.
 *  @example alpha=8, r=4  →  2, rank-stabilised 4 */
export function loraScaling({ r, lora_alpha, use_rslora = false }: LoraConfig): number {
  return lora_alpha / (use_rslora ? Math.sqrt(r) : r);
}
