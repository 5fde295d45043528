import { describe, expect, test } from 'vitest';
import { buildLayer, layoutFeeds, readBlockGolden } from '../../../test/helpers/block-golden.ts';
import { runGraph } from '../../../test/helpers/runtime-run.ts';
import {
  add,
  div,
  exp,
  grad,
  input,
  log,
  makeGraph,
  matmul,
  mean,
  mul,
  neg,
  sqrt,
  sub,
  type Value,
} from '../graph/index.ts';
import { type Feeds, type Outputs, tensor } from './index.ts';

const floats = (...values: number[]) => tensor(Float32Array.from(values), [values.length]);
const x = input('x', ['M']);

function runChecked(outputs: Readonly<Record<string, Value>>, feeds: Feeds): Promise<Outputs> {
  return runGraph(makeGraph(outputs), feeds, { checkNumerics: true });
}

describe('checkNumerics', () => {
  test('names the logarithm of a negative number deep inside a graph', async () => {
    const inner = log(sub(mul(x, x), 2));
    const outer = mean(exp(mul(add(inner, 1), 0.5)));
    await expect(runChecked({ before: neg(x), outer }, { x: floats(2, 1, 3) })).rejects.toThrow(
      new Error(
        'Found NaN: %3 = log(%2: float32[M]) produced the first one, in an output of shape [3]',
      ),
    );
  });

  test('names the division of zero by zero', async () => {
    const ratio = div(x, input('z', ['M']));
    await expect(
      runChecked({ y: neg(add(ratio, 1)) }, { x: floats(1, 0), z: floats(0, 0) }),
    ).rejects.toThrow(
      new Error(
        'Found NaN: %0 = div(x: float32[M], z: float32[M]) produced the first one, in an output of shape [2]',
      ),
    );
  });

  test('names the difference of infinities, not their source', async () => {
    const large = exp(x);
    await expect(runChecked({ y: sub(large, large) }, { x: floats(1000) })).rejects.toThrow(
      new Error(
        'Found NaN: %1 = sub(%0: float32[M], %0: float32[M]) produced the first one, in an output of shape [1]',
      ),
    );
  });

  test('names an op of a gradient', async () => {
    // d√x = dy / (2√x): zero over zero where both vanish.
    const { joint } = grad(makeGraph({ y: sqrt(x) }), { of: ['y'], wrt: ['x'] });
    await expect(
      runGraph(joint, { x: floats(0), 'd(y)': floats(0) }, { checkNumerics: true }),
    ).rejects.toThrow(
      /^Found NaN: %\d+ = (div|mul)\(.*\) produced the first one, in an output of shape \[1\]$/,
    );
  });

  test('finds one NaN among many numbers', async () => {
    const many = tensor(new Float32Array(10_000).fill(1), [10_000]);
    many.data[9_999] = -1;
    await expect(runChecked({ y: neg(log(x)) }, { x: many })).rejects.toThrow(
      new Error(
        'Found NaN: %0 = log(x: float32[M]) produced the first one, in an output of shape [10000]',
      ),
    );
  });

  test('names an input that already contains NaN, and no op', async () => {
    const z = input('z', ['M', 1]);
    await expect(
      runChecked(
        { y: log(neg(matmul(z, z, { transA: true }))), x },
        { x: floats(1, 2), z: tensor(Float32Array.of(1, Number.NaN), [2, 1]) },
      ),
    ).rejects.toThrow(new Error('Found NaN: input "z" of shape [2,1] already contains it'));
  });

  test('allows infinities', async () => {
    expect(await runChecked({ y: exp(log(x)) }, { x: floats(0, 1) })).toEqual({ y: floats(0, 1) });
  });

  test('rejects bad feeds like a plain run', async () => {
    await expect(runChecked({ y: neg(x) }, {})).rejects.toThrow(
      new Error('Cannot run the graph: input "x" (float32[M]) is not fed'),
    );
  });

  test('finds nothing in a correct decoder block and does not change its outputs', async () => {
    const { config, lora, lengths, tensors } = readBlockGolden();
    const { joint } = grad(buildLayer(config, lora), { of: ['y'], wrt: ['x'] });
    const all = { ...tensors, ...layoutFeeds(config, lengths) };
    const feeds = Object.fromEntries(
      Object.keys(joint.inputs).map((name) => [name, all[name as keyof typeof all]]),
    ) as Feeds;
    const plain = await runGraph(joint, feeds);
    const checked = await runGraph(joint, feeds, { checkNumerics: true });
    expect(Object.keys(checked)).toEqual(['y', 'd(x)']);
    for (const [name, { data, shape }] of Object.entries(plain)) {
      expect(checked[name]?.shape).toEqual(shape);
      const apart = data.map((value, i) =>
        Math.abs(value - (checked[name]?.data[i] ?? Number.NaN)),
      );
      expect(Math.max(...apart), name).toBeLessThan(1e-5);
    }
  });
});
