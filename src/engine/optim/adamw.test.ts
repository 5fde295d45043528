import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AdamW } from './adamw.ts';
import type { NamedArrays } from './gradients.ts';

type Lists = Record<string, number[]>;

function toArrays(lists: Lists): NamedArrays {
  const arrays = Object.entries(lists).map(([name, list]) => [name, Float32Array.from(list)]);
  return Object.fromEntries(arrays);
}

function pick(arrays: NamedArrays, names: readonly string[]): NamedArrays {
  return Object.fromEntries(names.map((name) => [name, arrays[name] as Float32Array]));
}

/** Two parameters with an optimiser; the same in each call. */
function makeSmall() {
  const parameters = toArrays({ 'q.lora_A': [1, -2, 3], head: [0.5] });
  return {
    parameters,
    optimizer: new AdamW([{ parameters, learningRate: 0.1, weightDecay: 0.1 }]),
  };
}

const smallGradients = (k: number) =>
  toArrays({ 'q.lora_A': [Math.sin(k), 1e-8 * k, 0], head: [Math.cos(k) * 10] });

describe('AdamW.step()', () => {
  test('step() returns the hand-worked numbers', () => {
    const w = Float32Array.of(1);
    const optimizer = new AdamW([{ parameters: { w }, learningRate: 0.1, weightDecay: 0.1 }], {
      eps: 0.5,
    });
    optimizer.step({ w: Float32Array.of(0.5) });
    expect(w[0]).toBeCloseTo(0.94, 6);
    const { tensors } = optimizer.state();
    expect(tensors['exp_avg.w']?.[0]).toBeCloseTo(0.05, 8);
    expect(tensors['exp_avg_sq.w']?.[0]).toBeCloseTo(0.00025, 10);
  });

  test('step() decays only groups with weight decay, each at its own rate', () => {
    const [decayed, plain, fast] = [Float32Array.of(2), Float32Array.of(2), Float32Array.of(2)];
    const optimizer = new AdamW([
      { parameters: { decayed }, learningRate: 0.1, weightDecay: 0.5 },
      { parameters: { plain }, learningRate: 0.1 },
      { parameters: { fast }, learningRate: 0.2, weightDecay: 0.5 },
    ]);
    const zero = () => new Float32Array(1);
    optimizer.step({ decayed: zero(), plain: zero(), fast: zero() });
    expect(decayed[0]).toBeCloseTo(1.9, 6);
    expect(plain[0]).toBe(2);
    expect(fast[0]).toBeCloseTo(1.8, 6);
  });

  test('step() moves by learningRate · factor against the sign of the first gradient', () => {
    const moves = (options: { learningRate?: number; learningRateFactor?: number }) => {
      const w = new Float32Array(2);
      new AdamW([{ parameters: { w }, learningRate: 0.5 }]).step(
        { w: Float32Array.of(7, -3) },
        options,
      );
      return [...w].map((value) => Number(value.toFixed(6)));
    };
    expect(moves({})).toEqual([-0.5, 0.5]);
    expect(moves({ learningRateFactor: 0.5 })).toEqual([-0.25, 0.25]);
    expect(moves({ learningRate: 0.1 })).toEqual([-0.1, 0.1]);
    expect(moves({ learningRate: 0.1, learningRateFactor: 0 })).toEqual([0, 0]);
  });

  test('step() updates the given buffers and does not change gradients', () => {
    const buffer = new Float32Array(4).fill(1);
    const w = buffer.subarray(1, 3);
    const g = Float32Array.of(1, -1);
    new AdamW([{ parameters: { w }, learningRate: 0.25 }]).step({ w: g });
    expect([...buffer].map((value) => Number(value.toFixed(6)))).toEqual([1, 0.75, 1.25, 1]);
    expect([...g]).toEqual([1, -1]);
  });

  test('step() computes the same bits for any order and grouping of parameters', () => {
    const value = fc.float({ min: -100, max: 100, noNaN: true });
    const entry = fc.tuple(value, value, value);
    fc.assert(
      fc.property(fc.dictionary(fc.string(), entry, { minKeys: 2 }), (entries) => {
        const names = Object.keys(entries);
        const column = (k: 0 | 1 | 2) =>
          Object.fromEntries(names.map((name) => [name, Float32Array.of(entries[name]![k])]));
        const run = (grouping: string[][]) => {
          const parameters = column(0);
          const groups = grouping.map((group) => ({
            parameters: pick(parameters, group),
            learningRate: 0.01,
            weightDecay: 0.1,
          }));
          const optimizer = new AdamW(groups);
          for (const k of [1, 2] as const) optimizer.step(column(k));
          return pick(parameters, names);
        };
        const reversed = names.toReversed();
        expect(run([reversed])).toEqual(run([names]));
        expect(run([reversed.slice(1), reversed.slice(0, 1)])).toEqual(run([names]));
      }),
    );
  });

  test.each([
    [{ 'q.lora_A': [1, 2], head: [1] }, 'gradient "q.lora_A" must have 3 elements, got 2'],
    [{ head: [1] }, 'gradient "q.lora_A" must be present, got none'],
    [{ 'q.lora_A': [1, 2, 3], head: [1], toString: [1] }, 'gradient "toString" must belong to a'],
  ])('step() rejects gradients that do not match and changes nothing: %j', (lists, message) => {
    const { parameters, optimizer } = makeSmall();
    expect(() => optimizer.step(toArrays(lists as unknown as Lists))).toThrow(
      `Cannot step AdamW: ${message}`,
    );
    expect(parameters).toEqual(makeSmall().parameters);
    expect(optimizer.stepCount).toBe(0);
  });

  test('step() rejects a learning rate that is not a number', () => {
    const { optimizer } = makeSmall();
    expect(() => optimizer.step(smallGradients(1), { learningRateFactor: Number.NaN })).toThrow(
      'Cannot step AdamW: the learning rate must be finite and at least 0, got NaN',
    );
    expect(optimizer.stepCount).toBe(0);
  });
});

describe('new AdamW()', () => {
  const group = { parameters: { w: new Float32Array(1) }, learningRate: 0.1 };

  test('new AdamW() rejects settings out of range', () => {
    expect(() => new AdamW([group], { betas: [0.9, 1] })).toThrow(
      'Cannot create AdamW: betas must be in [0, 1), got 1',
    );
    expect(() => new AdamW([group], { eps: -1 })).toThrow(
      'Cannot create AdamW: eps must be finite and at least 0, got -1',
    );
    expect(() => new AdamW([{ ...group, weightDecay: Infinity }])).toThrow(
      'Cannot create AdamW: weightDecay must be finite and at least 0, got Infinity',
    );
  });

  test('new AdamW() rejects a parameter in two groups', () => {
    expect(() => new AdamW([group, group])).toThrow(
      'Cannot create AdamW: parameter "w" must be in one group, got two',
    );
  });
});

describe('AdamW.restore()', () => {
  test('restore() continues bit for bit like an uninterrupted run', () => {
    const whole = makeSmall();
    for (let k = 0; k < 20; k++) whole.optimizer.step(smallGradients(k));

    const first = makeSmall();
    for (let k = 0; k < 7; k++) first.optimizer.step(smallGradients(k));
    const saved = structuredClone(first.parameters);
    const state = first.optimizer.state();
    first.optimizer.step(smallGradients(99));

    const second = makeSmall();
    for (const [name, array] of Object.entries(second.parameters)) array.set(saved[name]!);
    second.optimizer.restore(state);
    for (let k = 7; k < 20; k++) second.optimizer.step(smallGradients(k));

    expect(second.parameters).toEqual(whole.parameters);
    expect(second.optimizer.state()).toEqual(whole.optimizer.state());
  });

  test('state() names the moments like torch', () => {
    expect(Object.keys(makeSmall().optimizer.state().tensors)).toEqual([
      'exp_avg.q.lora_A',
      'exp_avg.head',
      'exp_avg_sq.q.lora_A',
      'exp_avg_sq.head',
    ]);
  });

  test('restore() rejects a state that does not match, names the problem and changes nothing', () => {
    const { optimizer } = makeSmall();
    optimizer.step(smallGradients(1));
    const { step, tensors } = optimizer.state();
    const { 'exp_avg.head': _, ...missing } = tensors;
    const restoring = (arrays: NamedArrays) => () =>
      optimizer.restore({ step: 5, tensors: arrays });
    expect(restoring(missing)).toThrow(
      'Cannot restore AdamW: moment "exp_avg.head" must be present',
    );
    expect(restoring({ ...tensors, 'exp_avg.k': new Float32Array(1) })).toThrow(
      'Cannot restore AdamW: moment "exp_avg.k" must belong to a parameter, got no such parameter',
    );
    expect(restoring({ ...tensors, 'exp_avg_sq.q.lora_A': new Float32Array(4) })).toThrow(
      'Cannot restore AdamW: moment "exp_avg_sq.q.lora_A" must have 3 elements, got 4',
    );
    expect(() => optimizer.restore({ step: 1.5, tensors })).toThrow(
      'Cannot restore AdamW: step must be a whole number ≥ 0, got 1.5',
    );
    expect(optimizer.state()).toEqual({ step, tensors });
  });
});
