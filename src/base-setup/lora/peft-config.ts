import { parseJsonObject } from '../../fs/parse-json.ts';
import type { LoraConfig } from './lora-config.ts';

export const configFileName = 'adapter_config.json';
export const tensorFileName = 'adapter_model.safetensors';
/** What PEFT writes before each name of the base. */
export const basePrefix = 'base_model.model.';
/** The modules that PEFT adds to `modules_to_save` for a classifier. */
export const headModules = ['score', 'classifier'] as const;
/** The weight [1, hidden] of a value or reward head, in graphs, optimisers and saved adapters. */
export const scoreWeightName = 'score.weight';
/** The bias [1] of a value head. */
export const scoreBiasName = 'score.bias';

/** The content of an `adapter_config.json`. The tensors decide which modules of which layers have an
 *  adapter. */
export interface PeftConfig {
  readonly lora: Omit<LoraConfig, 'target_modules' | 'layers_to_transform'>;
  readonly baseModelNameOrPath: string | undefined;
  /** CAUSAL_LM for a policy, SEQ_CLS or TOKEN_CLS with a head; PEFT has others. */
  readonly taskType: string | undefined;
}

/** Keys that change what an adapter computes in ways that only PEFT supports. */
const unsupported: Readonly<Record<string, string>> = {
  use_dora: 'DoRA',
  use_qalora: 'QALoRA',
  use_bdlora: 'BD-LoRA',
  rank_pattern: 'a rank per module',
  alpha_pattern: 'an alpha per module',
  layer_replication: 'layer replication',
  lora_bias: 'a bias in B',
  target_parameters: 'an adapter of bare parameters',
  trainable_token_indices: 'trainable tokens',
  alora_invocation_tokens: 'aLoRA',
  arrow_config: 'Arrow routing',
  kasa_config: 'KaSA',
  monteclora_config: 'MonteCLoRA',
};

/** Initialisations that leave the base unchanged; all others move part of its weights into the
 *  adapter. */
const supportedInits: readonly unknown[] = [true, false, 'gaussian', 'orthogonal', 'eva'];

/** Checks the text of an `adapter_config.json`.
 *  @param file what errors call it */
export function parsePeftConfig(text: string, file: string): PeftConfig {
  const json = parseJsonObject(text, file);
  const check = (key: string, { ok, rule }: { ok: boolean; rule: string }) => {
    if (ok) return;
    const got = json[key] === undefined ? 'nothing' : JSON.stringify(json[key]);
    throw new TypeError(`Cannot read ${file}: "${key}" must be ${rule}, got ${got}`);
  };
  const { r, lora_alpha, lora_dropout = 0, use_rslora = false, bias = 'none' } = json;
  check('peft_type', { ok: json.peft_type === 'LORA', rule: '"LORA"' });
  check('r', { ok: Number.isSafeInteger(r) && Number(r) > 0, rule: 'a whole number > 0' });
  check('lora_alpha', { ok: Number.isFinite(lora_alpha), rule: 'a number' });
  check('lora_dropout', { ok: isFraction(lora_dropout), rule: 'a number ≥ 0 and < 1' });
  check('use_rslora', { ok: typeof use_rslora === 'boolean', rule: 'true or false' });
  check('bias', {
    ok: bias === 'none',
    rule: '"none" because all roles share the biases of the base',
  });
  checkUnsupported(json, file);
  return {
    lora: { r, lora_alpha, lora_dropout, use_rslora } as PeftConfig['lora'],
    baseModelNameOrPath: stringOrUndefined(json.base_model_name_or_path),
    taskType: stringOrUndefined(json.task_type),
  };
}

function checkUnsupported(json: Record<string, unknown>, file: string): void {
  for (const [key, feature] of Object.entries(unsupported)) {
    const value = json[key];
    if (isUnset(value)) continue;
    throw new Error(
      `Cannot read ${file}: "${key}" must not be set, got ${show(value)}; ${feature} is not supported, merge the adapter with PEFT`,
    );
  }
  const { init_lora_weights: init = true } = json;
  if (!supportedInits.includes(init)) {
    throw new Error(
      `Cannot read ${file}: "init_lora_weights" must leave the base unchanged, got ${show(init)}; merge the adapter with PEFT`,
    );
  }
}

/** PEFT writes null, false, {} or [] for features that are not used. */
function isUnset(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** JSON for an error message, truncated to 80 characters. */
function show(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function isFraction(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value < 1;
}

function stringOrUndefined(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
