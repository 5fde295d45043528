import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Sampler, type SamplingOptions } from './sampler.ts';

interface Golden {
  /** null means −∞. */
  readonly rows: Readonly<Record<string, (number | null)[]>>;
  readonly cases: {
    readonly row: string;
    readonly options: SamplingOptions;
    readonly seen: number[];
    readonly kept: number[];
    readonly samplingLogprobs: number[];
    readonly logprobs: number[];
  }[];
}

const fixture = new URL('../../../test/fixtures/generation/sampler.json', import.meta.url);
const golden: Golden = JSON.parse(readFileSync(fixture, 'utf8'));

const logitsOf = (row: string) =>
  Float32Array.from(golden.rows[row]!, (logit) => logit ?? -Infinity);

test.each(golden.cases)("probabilities() keeps transformers' tokens: $row, $options", (of) => {
  const probabilities = new Sampler(of.options).probabilities(logitsOf(of.row), { seen: of.seen });
  const kept = [...probabilities.keys()].filter((id) => probabilities[id]! > 0);
  expect(kept).toEqual(of.kept);
  of.kept.forEach((id, i) => {
    expect(Math.log(probabilities[id]!), `token ${id}`).toBeCloseTo(of.samplingLogprobs[i]!, 5);
  });
});

test.each(golden.cases)("sample() matches transformers' logprobs: $row, $options", (of) => {
  const sampler = new Sampler(of.options);
  const logits = logitsOf(of.row);
  let below = 0;
  of.kept.forEach((id, i) => {
    const probability = Math.exp(of.samplingLogprobs[i]!);
    const uniform = below + probability / 2;
    below += probability;
    // The logprobs are rounded too much for less probable tokens.
    if (probability < 1e-5) return;
    const sampled = sampler.sample(logits, { uniform, seen: of.seen });
    expect(sampled.token).toBe(id);
    expect(sampled.logprob).toBeCloseTo(of.logprobs[i]!, 6);
    expect(sampled.samplingLogprob).toBeCloseTo(of.samplingLogprobs[i]!, 5);
  });
  expect(below).toBeCloseTo(1, 5);
});
