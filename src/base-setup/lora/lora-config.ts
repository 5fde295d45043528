/** An adapter's shape, by PEFT's names. */
export interface LoraConfig {
  readonly r: number;
  readonly lora_alpha: number;
  /** Module names or their last parts, such as q_proj; all linear modules where absent. */
  readonly target_modules?: readonly string[] | 'all-linear';
  /** Part of a module's input that the adapter does not see in a training step; 0 where absent. */
  readonly lora_dropout?: number;
  /** Scaling by the root of the rank (arXiv:2312.03732). */
  readonly use_rslora?: boolean;
}

/** The documents' adapter: the four projections of attention, which are two in GPT-2. */
export const defaultLoraConfig = {
  r: 16,
  lora_alpha: 32,
  lora_dropout: 0.1,
  target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'c_attn', 'attn.c_proj'],
} as const satisfies LoraConfig;

/** Whether an adapter has weights for a module: PEFT's rule, a target names the whole or the last parts. */
export function isTarget(module: string, lora: LoraConfig | undefined): boolean {
  if (lora === undefined) return false;
  const targets = lora.target_modules ?? 'all-linear';
  return targets === 'all-linear' || targets.some((target) => namesModule(target, module));
}

export function namesModule(target: string, module: string): boolean {
  return module === target || module.endsWith(`.${target}`);
}

/** scaling = alpha / r, or alpha / √r if rank-stabilised: what B·A is multiplied by.
 *  @example alpha=8, r=4  →  2, rank-stabilised 4 */
export function loraScaling({ r, lora_alpha, use_rslora = false }: LoraConfig): number {
  return lora_alpha / (use_rslora ? Math.sqrt(r) : r);
}
