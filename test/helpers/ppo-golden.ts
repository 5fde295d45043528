import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { LoraAdapter } from '../../src/base-setup/lora/lora-adapter.ts';
import { basePrefix } from '../../src/base-setup/lora/peft-config.ts';
import { readAdapter } from '../../src/base-setup/lora/peft-files.ts';

import {
  type PPOConfig,
  type PPOConfigOptions,
  resolvePPOConfig,
} from '../../src/config/ppo-config.ts';
import type { Tensor } from '../../src/engine/runtime/index.ts';
import type { Experience } from '../../src/experience-buffer/experience.ts';
import type { BaseModel } from '../../src/models/decoder/base-model.ts';
import { openModel } from './peft-golden.ts';
import { readSafetensors } from './runtime-safetensors.ts';

/** Folders of test/fixtures/ppo-update, which tools/oracle/ppo/ppo_update.py creates. */
export const ppoCases = ['token-clip', 'every-term', 'sequence-ratio', 'turns'] as const;

export type PpoCase = (typeof ppoCases)[number];

/** What torch computes in one optimiser step, with the weights before it; columns are [N]. */
interface PpoGoldenStep {
  /** What is differentiated: clip − entropyCoef · entropy + klCoef · kl if the KL is in the loss. */
  readonly policyLoss: number;
  /** Without their coefficients. */
  readonly policyLossParts: {
    readonly clip: number;
    readonly entropy: number;
    readonly kl: number;
  };
  /** Without valueLossCoef. */
  readonly valueLoss: number;
  readonly newLogprobs: readonly number[];
  readonly entropies: readonly number[];
  readonly newValues: readonly number[];
  /** Before clipping. */
  readonly policyGradNorm: number;
  /** Before clipping, with valueLossCoef. */
  readonly valueGradNorm: number;
}

/** Trained weights by the names of our adapters; those of the value model with `score.weight`. */
interface PpoGoldenWeights {
  readonly policy: ReadonlyMap<string, Float32Array>;
  readonly value: ReadonlyMap<string, Float32Array>;
}

/** Models, a rollout, and the expected results of an update; arrays are not shared between calls. */
export interface PpoGolden {
  readonly base: BaseModel;
  readonly policyAdapter: LoraAdapter;
  readonly valueAdapter: LoraAdapter;
  /** [1, hidden] */
  readonly valueHead: Tensor<'float32'>;
  readonly config: PPOConfig;
  readonly prompts: readonly (readonly number[])[];
  readonly responses: readonly (readonly number[])[];
  readonly experience: Experience;
  /** Each is one optimiser step over the whole rollout. */
  readonly steps: readonly PpoGoldenStep[];
  readonly afterFirst: PpoGoldenWeights;
  readonly afterLast: PpoGoldenWeights;
}

interface GoldenFile {
  readonly model: 'qwen3' | 'llama';
  readonly hyperparameters: PPOConfigOptions;
  readonly prompts: readonly (readonly number[])[];
  readonly responses: readonly (readonly number[])[];
  /** Which tokens of a response were sampled; all without it. */
  readonly masks?: readonly (readonly boolean[])[];
  readonly oldLogprobs: readonly number[];
  readonly refLogprobs: readonly number[];
  readonly kl: readonly number[];
  readonly advantages: readonly number[];
  readonly returns: readonly number[];
  readonly oldValues: readonly number[];
  readonly steps: readonly PpoGoldenStep[];
}

/** A case with its own copy of everything: training may change the weights in place. */
export async function readPpoGolden(name: PpoCase): Promise<PpoGolden> {
  const golden: GoldenFile = JSON.parse(readFileSync(fixture(`${name}/golden.json`), 'utf8'));
  const base = await openModel(fixture(`${golden.model}/base`));
  const open = async (role: 'policy' | 'value') =>
    (await readAdapter(fixture(`${golden.model}/${role}`), base)).adapter;
  const head = readSafetensors(fixture(`${golden.model}/value/value_head.safetensors`));
  return {
    base,
    policyAdapter: await open('policy'),
    valueAdapter: await open('value'),
    valueHead: head.tensors['score.weight']!,
    config: resolvePPOConfig(golden.hyperparameters),
    prompts: golden.prompts,
    responses: golden.responses,
    experience: toExperience(golden),
    steps: golden.steps,
    afterFirst: readWeights(fixture(`${name}/after-1.safetensors`)),
    afterLast: readWeights(fixture(`${name}/after-${golden.steps.length}.safetensors`)),
  };
}

function fixture(path: string): string {
  return fileURLToPath(new URL(`../fixtures/ppo-update/${path}`, import.meta.url));
}

/** Scores, rewards and texts are left empty: an update reads none of them. */
function toExperience(golden: GoldenFile): Experience {
  const { prompts } = golden;
  const split = golden.responses.map((response, i) => splitMasked(response, golden.masks?.[i]));
  const responses = split.map(({ sampled }) => sampled);
  const tokens = Int32Array.from(responses.flat());
  const offsets = new Int32Array(responses.length + 1);
  responses.forEach(({ length }, i) => {
    offsets[i + 1] = offsets[i]! + length;
  });
  const sequences = responses.map((response, i) => ({
    promptIdx: i,
    sample: 0,
    promptText: '',
    promptTokens: Int32Array.from(prompts[i]!),
    text: '',
    pieces: response.map(() => ''),
    finished: true,
    observations: split[i]!.observations,
  }));
  return {
    sequences,
    offsets,
    tokens,
    logprobs: Float32Array.from(golden.oldLogprobs),
    refLogprobs: Float32Array.from(golden.refLogprobs),
    kl: Float32Array.from(golden.kl),
    stepOffsets: offsets,
    scores: new Float32Array(responses.length),
    rewards: new Float32Array(tokens.length),
    values: Float32Array.from(golden.oldValues),
    advantages: Float32Array.from(golden.advantages),
    returns: Float32Array.from(golden.returns),
  };
}

/** Sampled tokens, and the runs of masked ones between them as observations. */
function splitMasked(
  response: readonly number[],
  mask: readonly boolean[] = response.map(() => true),
) {
  const sampled: number[] = [];
  const observed: { at: number; tokens: number[] }[] = [];
  response.forEach((token, t) => {
    if (mask[t]) sampled.push(token);
    else if (t > 0 && !mask[t - 1]) observed.at(-1)!.tokens.push(token);
    else observed.push({ at: sampled.length, tokens: [token] });
  });
  const observations = observed.map(({ at, tokens }) => ({
    at,
    tokens: Int32Array.from(tokens),
    text: '',
  }));
  return { sampled, observations };
}

function readWeights(file: string): PpoGoldenWeights {
  const { tensors } = readSafetensors(file);
  const ofRole = (role: string) =>
    new Map(
      Object.entries(tensors)
        .filter(([name]) => name.startsWith(`${role}.`))
        .map(([name, { data }]) => [
          name.slice(role.length + 1).replace(basePrefix, ''),
          data as Float32Array,
        ]),
    );
  return { policy: ofRole('policy'), value: ofRole('value') };
}
