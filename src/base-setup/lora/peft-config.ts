import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJsonObject, statIfExists } from '../../fs/index.ts';
import type { LoraConfig } from './lora-config.ts';

export const configFileName = 'adapter_config.json';

/** What an `adapter_config.json` says. Which modules have an adapter is left to the tensors. */
export interface PeftConfig {
  readonly lora: Omit<LoraConfig, 'target_modules'>;
  readonly baseModelNameOrPath: string | undefined;
  /** CAUSAL_LM for a policy, SEQ_CLS or TOKEN_CLS with a head; any other of PEFT's too. */
  readonly taskType: string | undefined;
}

/** Keys that change what an adapter computes, in ways that only PEFT knows. */
const unsupported: Readonly<Record<string, string>> = {
  use_dora: 'DoRA',
  use_qalora: 'QALoRA',
  use_bdlora: 'BD-LoRA',
  rank_pattern: 'ranks by module',
  alpha_pattern: 'alphas by module',
  layers_to_transform: 'adapters of some layers only',
  layer_replication: 'replicated layers',
  lora_bias: 'a bias in B',
  target_parameters: 'adapters of bare parameters',
  trainable_token_indices: 'trainable tokens',
  alora_invocation_tokens: 'aLoRA',
  arrow_config: 'Arrow routing',
  kasa_config: 'KaSA',
  monteclora_config: 'MonteCLoRA',
};

/** Ways to draw the first weights that leave the base as it is. The others take part of its weights
 *  into the adapter. */
const plainInits: readonly unknown[] = [true, false, 'gaussian', 'orthogonal', 'eva'];

/** Reads and checks the `adapter_config.json` of a folder. */
export async function readPeftConfig(folder: string): Promise<PeftConfig> {
  const file = join(folder, configFileName);
  if ((await statIfExists(file)) === undefined) {
    throw new Error(
      `Cannot read the adapter ${folder}: it must have ${configFileName}, got none there`,
    );
  }
  return parsePeftConfig(await readFile(file, 'utf8'), file);
}

function parsePeftConfig(text: string, file: string): PeftConfig {
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
  check('lora_dropout', { ok: isFraction(lora_dropout), rule: 'a number from 0 up to 1' });
  check('use_rslora', { ok: typeof use_rslora === 'boolean', rule: 'true or false' });
  check('bias', {
    ok: bias === 'none',
    rule: '"none", as biases of the base are shared by all roles',
  });
  checkUnsupported(json, file);
  return {
    lora: { r, lora_alpha, lora_dropout, use_rslora } as PeftConfig['lora'],
    baseModelNameOrPath: stringOf(json.base_model_name_or_path),
    taskType: stringOf(json.task_type),
  };
}

function checkUnsupported(json: Record<string, unknown>, file: string): void {
  for (const [key, feature] of Object.entries(unsupported)) {
    const value = json[key];
    if (isUnset(value)) continue;
    throw new Error(
      `Cannot read ${file}: "${key}" must not be set, got ${show(value)}; ${feature} cannot be read, merge the adapter with PEFT`,
    );
  }
  const { init_lora_weights: init = true } = json;
  if (!plainInits.includes(init)) {
    throw new Error(
      `Cannot read ${file}: "init_lora_weights" must leave the base as it is, got ${show(init)}; merge the adapter with PEFT`,
    );
  }
}

/** PEFT writes null, false, {} or [] for what is not used. */
function isUnset(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** JSON for an error message, cut to 80 characters. */
function show(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function isFraction(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value < 1;
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
