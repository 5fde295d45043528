import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { AdamW } from './adamw.ts';
import { clipGradNorm, type NamedArrays } from './gradients.ts';

type Lists = Record<string, number[]>;

interface Golden {
  readonly parameters: Lists;
  readonly gradients: Lists[];
  readonly cases: {
    readonly name: string;
    readonly betas: [number, number];
    readonly eps: number;
    readonly maxNorm: number | null;
    readonly learningRateFactors: number[];
    readonly groups: { names: string[]; learningRate: number; weightDecay: number }[];
    readonly norms: number[];
    readonly checkpoints: { step: number; parameters: Lists; moments: Lists }[];
  }[];
}

const fixture = new URL('../../../test/fixtures/optim/adamw.json', import.meta.url);
const golden: Golden = JSON.parse(readFileSync(fixture, 'utf8'));

function toArrays(lists: Lists): NamedArrays {
  const arrays = Object.entries(lists).map(([name, list]) => [name, Float32Array.from(list)]);
  return Object.fromEntries(arrays);
}

function pick(arrays: NamedArrays, names: readonly string[]): NamedArrays {
  return Object.fromEntries(names.map((name) => [name, arrays[name] as Float32Array]));
}

function expectEqualTo1e6(actual: NamedArrays, expected: Lists) {
  expect(Object.keys(actual).sort()).toEqual(Object.keys(expected).sort());
  for (const [name, list] of Object.entries(expected)) {
    list.forEach((wanted, i) => {
      const got = actual[name]?.[i] ?? Number.NaN;
      expect(
        Math.abs(got - wanted),
        `${name}[${i}]: ${got}, expected ${wanted}`,
      ).toBeLessThanOrEqual(1e-6 * Math.abs(wanted));
    });
  }
}

test.each(golden.cases)('AdamW equals torch to 1e-6 over 100 steps: $name', (of) => {
  const parameters = toArrays(golden.parameters);
  const groups = of.groups.map(({ names, ...rates }) => ({
    parameters: pick(parameters, names),
    ...rates,
  }));
  const optimizer = new AdamW(groups, { betas: of.betas, eps: of.eps });
  let compared = 0;
  golden.gradients.forEach((lists, step) => {
    const gradients = toArrays(lists);
    const norm = clipGradNorm(gradients, of.maxNorm ?? Infinity);
    expectEqualTo1e6({ norm: Float32Array.of(norm) }, { norm: [of.norms[step]!] });
    optimizer.step(gradients, { learningRateFactor: of.learningRateFactors[step]! });
    const checkpoint = of.checkpoints.find((point) => point.step === optimizer.stepCount);
    if (checkpoint === undefined) return;
    expectEqualTo1e6(parameters, checkpoint.parameters);
    expectEqualTo1e6(optimizer.state().tensors, checkpoint.moments);
    compared++;
  });
  expect(compared).toBe(3);
});
