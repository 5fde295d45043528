import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { grad, gradientName } from '../../engine/graph/index.ts';
import { compile, type Tensor, tensor } from '../../engine/runtime/index.ts';
import { createModel } from './create-model.ts';
import { readArchitecture } from './families/index.ts';
import { logprobsGraph } from './head-graph.ts';
import { takeRows } from './rows.ts';
import { evenParts, runTokenHead } from './token-head.ts';

const modelOf = (sizes: { vocab_size: number; hidden_size: number }) =>
  createModel(
    readArchitecture({
      model_type: 'llama',
      intermediate_size: 2,
      num_hidden_layers: 1,
      num_attention_heads: 1,
      ...sizes,
    }),
  );

/** Hidden states without equal rows. */
function makeRows(rows: number, width: number): Tensor<'float32'> {
  const data = Float32Array.from({ length: rows * width }, (_, i) => Math.sin(i * i + 1));
  return tensor(data, [rows, width]);
}

function expectClose(actual: Float32Array, expected: Float32Array, tolerance: number): void {
  expect(actual.length).toBe(expected.length);
  const largest = Math.max(...expected.map(Math.abs));
  const worst = Math.max(...actual.map((number, i) => Math.abs(number - expected[i]!)));
  expect(worst / largest).toBeLessThan(tolerance);
}

describe('runTokenHead()', () => {
  test('has the numbers and gradients of a softmax over the whole vocabulary', async () => {
    // Both the 1100 rows and the vocabulary are split in two.
    const [rows, width, vocabulary] = [1100, 8, 3001];
    const base = modelOf({ vocab_size: vocabulary, hidden_size: width });
    const hidden = makeRows(rows, width);
    const tokens = Int32Array.from({ length: rows }, (_, i) => (i * 7) % vocabulary);
    const temperature = 0.05;
    const feeds = {
      x: hidden,
      tokens: tensor(tokens, [rows]),
      temperature: tensor(Float32Array.of(temperature), []),
    };
    const ones = tensor(new Float32Array(rows).fill(1), [rows]);
    const whole = logprobsGraph(base.architecture);
    const head = await runTokenHead(
      base,
      { hidden, tokens },
      { temperature, gradients: 'logprob and entropy' },
    );
    for (const [name, numbers, gradients] of [
      ['logprob', head.logprobs, head.byLogprob],
      ['entropy', head.entropies, head.byEntropy],
    ] as const) {
      const graph = await compile(grad(whole, { of: [name], wrt: ['x'] }).joint);
      const shared = { ...feeds, [gradientName(name)]: ones };
      const outputs = await graph.run(await base.headFeeds(graph, shared));
      expectClose(numbers, outputs[name]!.data as Float32Array, 2e-6);
      expectClose(gradients!.data, outputs[gradientName('x')]!.data as Float32Array, 1e-5);
      await graph.dispose();
    }
    await base.dispose();
  });

  test('returns the same for a row alone and in a batch, with a large vocabulary', async () => {
    const base = modelOf({ vocab_size: 2 ** 20, hidden_size: 2 });
    const hidden = makeRows(19, 2);
    const tokens = Int32Array.from({ length: 19 }, (_, i) => i * 50000);
    const options = { temperature: 0.01, gradients: 'none' } as const;
    const all = await runTokenHead(base, { hidden, tokens }, options);
    for (const row of [0, 15, 18]) {
      const rows = { hidden: takeRows(hidden, [row]), tokens: tokens.slice(row, row + 1) };
      const one = await runTokenHead(base, rows, options);
      expect(all.logprobs[row]).toBeCloseTo(one.logprobs[0]!, 4);
      expect(all.entropies[row]).toBeCloseTo(one.entropies[0]!, 4);
    }
    expect(new Set(all.logprobs).size).toBe(19);
    await base.dispose();
  });

  test('has logprob and entropy 0 if one logit is far above the others', async () => {
    const base = modelOf({ vocab_size: 40, hidden_size: 4 });
    base.weight(base.headName).data.fill(0);
    base.weight(base.headName).data.set([9, 9, 9, 9], 4 * 33);
    const hidden = tensor(Float32Array.of(1, 1, 1, 1), [1, 4]);
    const options = { temperature: 0.01, gradients: 'logprob and entropy' } as const;
    const rows = { hidden, tokens: Int32Array.of(33) };
    const head = await runTokenHead(base, rows, options);
    expect([head.logprobs[0], head.entropies[0]]).toEqual([0, 0]);
    const gradients = [...head.byLogprob!.data, ...head.byEntropy!.data];
    expect(gradients.every((number) => Math.abs(number) < 1e-3)).toBe(true);
    await base.dispose();
  });

  test('returns nothing for no rows', async () => {
    const base = modelOf({ vocab_size: 40, hidden_size: 4 });
    const rows = { hidden: tensor(new Float32Array(0), [0, 4]), tokens: new Int32Array(0) };
    const { logprobs } = await runTokenHead(base, rows, { temperature: 1, gradients: 'none' });
    expect(logprobs).toHaveLength(0);
  });
});

test('evenParts() splits the range in order, into parts of at most the given length', () => {
  fc.assert(
    fc.property(fc.nat(5000), fc.integer({ min: 1, max: 700 }), (length, most) => {
      const parts = evenParts(length, most);
      const edges = [0, ...parts.map(([, end]) => end)];
      expect(parts.map(([start]) => start)).toEqual(edges.slice(0, -1));
      expect(edges.at(-1)).toBe(length);
      expect(parts.every(([start, end]) => end > start && end - start <= most)).toBe(true);
    }),
  );
});
