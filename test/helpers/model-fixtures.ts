import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import type { BaseModel, BasePrecision } from '../../src/models/decoder/base-model.ts';
import { loadBase, readConfig } from '../../src/models/decoder/load-model.ts';

/** What transformers computes for one sequence. */
export interface GoldenSequence {
  readonly ids: readonly number[];
  /** Positions that `logits` has. */
  readonly rows: readonly number[];
  readonly logits: readonly (readonly number[])[];
  readonly at: readonly {
    readonly temperature: number;
    /** Of tokens 1, 2, …, given the earlier ones. */
    readonly logprobs: readonly number[];
    /** After every token. */
    readonly entropies: readonly number[];
  }[];
}

interface GoldenGreedy {
  readonly prompt: readonly number[];
  readonly ids: readonly number[];
}

interface Golden {
  readonly sequences: readonly GoldenSequence[];
  readonly greedy: readonly GoldenGreedy[];
}

const families = fileURLToPath(new URL('../fixtures/families', import.meta.url));

/** Tiny models of every family, by tools/oracle/families/make_goldens.py. */
export const fixtureNames: readonly string[] = readdirSync(families);

export function fixtureFolder(name: string): string {
  return join(families, name);
}

export function readGolden(name: string): Golden {
  return JSON.parse(readFileSync(join(fixtureFolder(name), 'golden.json'), 'utf8'));
}

/** What transformers computes for one prompt of the real model. */
export interface StoryCase {
  readonly prompt: string;
  readonly prompt_ids: readonly number[];
  /** Prompt and continuation. */
  readonly greedy_ids: readonly number[];
  readonly token_logprobs: readonly number[];
  readonly entropy: readonly number[];
  readonly last_logits_first16: readonly number[];
}

/** A real model next to the repository; it may be missing. */
export const storiesFolder = fileURLToPath(
  new URL('../../../shared/assets/stories15M-hf', import.meta.url),
);

export const hasStories = existsSync(join(storiesFolder, 'golden.json'));

/** Title of the tests with the real model, with the reason if they are skipped. */
export const storiesTitle = hasStories
  ? 'stories15M'
  : `stories15M (skipped: ${storiesFolder} does not exist)`;

export function readStories(): readonly StoryCase[] {
  return JSON.parse(readFileSync(join(storiesFolder, 'golden.json'), 'utf8')).cases;
}

export async function loadFolder(
  folder: string,
  precision: BasePrecision = 'f32',
): Promise<BaseModel> {
  return loadBase(folder, await readConfig(folder), { precision });
}

/** Every fixture at every precision of the base, for what must hold at each. */
export const fixtureCases: readonly { name: string; precision: BasePrecision }[] =
  fixtureNames.flatMap((name) =>
    (['f32', 'int8'] as const).map((precision) => ({ name, precision })),
  );

/** How far numbers may differ that are computed in another order: rows of two bytes round the difference
 *  of two float32 numbers up to a step of the low byte. */
export function roundingOf({ bytes }: BaseModel, float32 = 1e-5): number {
  return bytes?.format.rows === 'two-byte' ? 100 * float32 : float32;
}

/** The model of a folder, for the tests of the surrounding `describe`. */
export function useModel(
  folder: string,
  precision: BasePrecision = 'f32',
): { readonly base: BaseModel } {
  const model: { base?: BaseModel } = {};
  beforeAll(async () => {
    model.base = await loadFolder(folder, precision);
  });
  afterAll(() => model.base?.dispose());
  return model as { readonly base: BaseModel };
}
