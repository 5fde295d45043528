import { describe, expect, test } from 'vitest';
import {
  buildLayer,
  goldenArchitecture,
  layoutFeeds,
  layoutOf,
  readBlockGolden,
  type Tensors,
} from '../../../test/helpers/block-golden.ts';
import { runGraph } from '../../../test/helpers/runtime-run.ts';
import { type Graph, grad, gradientName, type SaveList } from '../../engine/graph/index.ts';
import { type Outputs, type Tensor, tensor } from '../../engine/runtime/index.ts';
import { layerParts } from './layer-graph.ts';

const golden = readBlockGolden();
const { config, lora, lengths } = golden;
const adapters = Object.keys(golden.tensors).filter((name) => /^[^(]+lora_[AB]/.test(name));
const wrt = ['x', ...adapters];
const gradientNames = wrt.map(gradientName);
const goldenFeeds: Tensors = { ...golden.tensors, ...layoutFeeds(config, lengths) };

/** Runs a graph with the tensors that are its inputs. */
function runWith(graph: Graph, tensors: Tensors): Promise<Outputs> {
  const feeds = Object.keys(graph.inputs).map((name) => [name, tensors[name] as Tensor]);
  return runGraph(graph, Object.fromEntries(feeds));
}

/** The largest difference, relative to the largest expected number. */
function differenceOf(actual: Tensor | undefined, expected: Tensor | undefined): number {
  if (actual === undefined || expected === undefined) return Number.NaN;
  expect(actual.shape).toEqual(expected.shape);
  const size = Math.max(...expected.data.map(Math.abs));
  return (
    Math.max(...expected.data.map((value, i) => Math.abs(value - Number(actual.data[i])))) / size
  );
}

function expectClose(
  actual: Tensors,
  {
    expected,
    within,
    names = ['y', ...gradientNames],
  }: {
    expected: Tensors;
    within: number;
    names?: readonly string[];
  },
): void {
  const differences = names.map((name) => [name, differenceOf(actual[name], expected[name])]);
  const far = differences.filter(([, difference]) => !(Number(difference) <= within));
  expect(far).toEqual([]);
}

/** Rows `from` to `to` of a tensor [M, …]. */
function sliceRows({ data, shape }: Tensor<'float32'>, from: number, to: number) {
  const width = data.length / (shape[0] ?? 1);
  return tensor(data.slice(from * width, to * width), [to - from, ...shape.slice(1)]);
}

const perToken = ['x', 'cos', 'sin', 'd(y)'] as const;

/** The golden's feeds with one of its sequences alone. */
function feedsOfSequence(sequence: number): Tensors {
  const length = lengths[sequence] as number;
  const from = lengths.slice(0, sequence).reduce((a, b) => a + b, 0);
  const rows = perToken.map((name) => [
    name,
    sliceRows(golden.tensors[name] as Tensor<'float32'>, from, from + length),
  ]);
  return { ...goldenFeeds, ...layoutFeeds(config, [length]), ...Object.fromEntries(rows) };
}

test('no gradient of the golden is zero', () => {
  expect(gradientNames).toHaveLength(15);
  for (const name of gradientNames) {
    const largest = Math.max(...(golden.tensors[name]?.data ?? []).map(Math.abs));
    expect(largest, name).toBeGreaterThan(1);
  }
});

test('layerParts() returns the shapes of the linear modules', () => {
  const names = adapters.filter((name) => name.includes('lora_A'));
  const shapes = names.map((name) => {
    const module = name.replace('.lora_A.weight', '');
    return [module, golden.tensors[`${module}.weight`]?.shape];
  });
  expect(shapes).toHaveLength(7);
  expect(Object.fromEntries(layerParts(goldenArchitecture(config)).modules)).toEqual(
    Object.fromEntries(shapes),
  );
});

describe('layerGraph()', () => {
  const build = buildLayer;
  const block = build(config, lora);

  function runJoint(feeds: Tensors): Promise<Outputs> {
    return runWith(grad(block, { of: ['y'], wrt }).joint, feeds);
  }

  /** Forward, then backward from what the forward run saved. */
  async function runSplit(save: SaveList, feeds: Tensors): Promise<Outputs> {
    const { forward, backward } = grad(block, { of: ['y'], wrt, save });
    const saved = await runWith(forward, feeds);
    const gradients = await runWith(backward, { ...feeds, ...saved });
    return { y: saved.y as Tensor, ...gradients };
  }

  describe('against torch', () => {
    test('its output equals transformers’ Qwen3 layer with PEFT’s LoRA', async () => {
      const outputs = await runWith(block, goldenFeeds);
      expectClose(outputs, { expected: golden.tensors, within: 1e-5, names: ['y'] });
    });

    test('its output and 15 gradients in one graph equal torch', async () => {
      expectClose(await runJoint(goldenFeeds), { expected: golden.tensors, within: 1e-5 });
    });

    test.each(['none', 'matmul', 'all'] as const)(
      'its gradients from saved values equal torch, save list %s',
      async (save) => {
        expectClose(await runSplit(save, goldenFeeds), { expected: golden.tensors, within: 1e-5 });
      },
    );
  });

  test.each([2, 3, 4])('in %i blocks its output and gradients equal torch', async (pieces) => {
    const { form } = layoutOf(config, lengths, pieces);
    expect(form).toEqual({ blocks: pieces, shared: true, past: false });
    const split = build(config, lora, form);
    const feeds = { ...goldenFeeds, ...layoutFeeds(config, lengths, pieces) };
    const { joint, forward, backward } = grad(split, { of: ['y'], wrt });
    expectClose(await runWith(joint, feeds), { expected: golden.tensors, within: 1e-5 });
    const saved = await runWith(forward, feeds);
    const gradients = await runWith(backward, { ...feeds, ...saved });
    expectClose({ ...saved, ...gradients }, { expected: golden.tensors, within: 1e-5 });
  });

  describe('save lists', () => {
    test('agree on every gradient', async () => {
      const expected = await runSplit('none', goldenFeeds);
      for (const save of ['matmul', 'all'] as const) {
        expectClose(await runSplit(save, goldenFeeds), { expected, within: 1e-6 });
      }
      expectClose(await runJoint(goldenFeeds), { expected, within: 1e-6 });
    });

    test('none saves nothing, all saves more than matmul', () => {
      const count = (save: SaveList) => {
        const { forward } = grad(block, { of: ['y'], wrt, save });
        return Object.keys(forward.outputs).length - 1;
      };
      expect(count('none')).toBe(0);
      expect(count('matmul')).toBeGreaterThan(0);
      expect(count('all')).toBeGreaterThan(count('matmul'));
    });

    test('matmul saves no attention scores, whose size is quadratic in the length', () => {
      const squared = (save: SaveList) => {
        const { forward } = grad(block, { of: ['y'], wrt, save });
        return Object.values(forward.outputs).filter(
          ({ shape }) => shape.filter((dim) => /[TS]0/.test(String(dim))).length > 1,
        );
      };
      expect(squared('matmul')).toEqual([]);
      expect(squared('all').length).toBeGreaterThan(0);
    });
  });

  describe('packed sequences', () => {
    test('have the results of each sequence alone', async () => {
      const together = await runJoint(goldenFeeds);
      let from = 0;
      for (const [sequence, length] of lengths.entries()) {
        const alone = await runJoint(feedsOfSequence(sequence));
        for (const name of ['y', 'd(x)']) {
          const part = sliceRows(together[name] as Tensor<'float32'>, from, from + length);
          expect(differenceOf(part, alone[name]), `${name} of ${sequence}`).toBeLessThan(1e-6);
        }
        from += length;
      }
    });

    test('add up the sequences’ adapter gradients', async () => {
      const together = await runJoint(goldenFeeds);
      const alone = await Promise.all(lengths.map((_, i) => runJoint(feedsOfSequence(i))));
      for (const name of adapters.map(gradientName)) {
        const total = (together[name] as Tensor).data.map((_, i) =>
          alone.reduce((sum, outputs) => sum + Number(outputs[name]?.data[i]), 0),
        ) as Float32Array;
        const sum = tensor(total, (together[name] as Tensor).shape);
        expect(differenceOf(together[name], sum), name).toBeLessThan(2e-6);
      }
    });

    test('do not depend on the rows in their padding', async () => {
      const [longest, total] = [Math.max(...lengths), lengths.reduce((a, b) => a + b)];
      const repad = (name: string, heads: number): [string, Tensor] => {
        const { data, shape } = goldenFeeds[name] as Tensor<'int32'>;
        const other = data.map((row, place) => {
          const length = lengths[Math.floor(place / longest / heads)] as number;
          return place % longest < length ? row : (place * 31 + 17) % (total * heads);
        });
        expect(other).not.toEqual(data);
        return [name, tensor(other, shape)];
      };
      const repadded = Object.fromEntries([
        repad('unpack.q', config.num_attention_heads),
        repad('unpack.kv', config.num_key_value_heads),
      ]);
      expect(await runJoint({ ...goldenFeeds, ...repadded })).toEqual(await runJoint(goldenFeeds));
    });

    test('do not depend on later tokens', async () => {
      const changed = tensor(
        Float32Array.from(goldenFeeds.x?.data ?? []),
        goldenFeeds.x?.shape ?? [],
      );
      const firstLength = lengths[0] as number;
      const lastRow = (firstLength - 1) * config.hidden_size;
      changed.data.fill(3, lastRow, lastRow + config.hidden_size);
      const before = (await runWith(block, goldenFeeds)).y as Tensor<'float32'>;
      const after = (await runWith(block, { ...goldenFeeds, x: changed })).y as Tensor<'float32'>;
      const earlier = [0, firstLength - 1] as const;
      expect(
        differenceOf(sliceRows(after, ...earlier), sliceRows(before, ...earlier)),
      ).toBeLessThan(1e-6);
      const later = [firstLength, lengths.reduce((a, b) => a + b)] as const;
      expect(differenceOf(sliceRows(after, ...later), sliceRows(before, ...later))).toBeLessThan(
        1e-6,
      );
      const own = [firstLength - 1, firstLength] as const;
      expect(differenceOf(sliceRows(after, ...own), sliceRows(before, ...own))).toBeGreaterThan(
        0.1,
      );
    });
  });

  describe('LoRA', () => {
    const withoutB = Object.fromEntries(
      adapters
        .filter((name) => name.includes('lora_B'))
        .map((name) => {
          const { data, shape } = goldenFeeds[name] as Tensor;
          return [name, tensor(new Float32Array(data.length), shape)];
        }),
    );

    test('with B = 0 is the block without LoRA', async () => {
      const plain = await runWith(build(config), goldenFeeds);
      const zero = await runWith(block, { ...goldenFeeds, ...withoutB });
      expect(differenceOf(zero.y, plain.y)).toBeLessThan(1e-6);
      expect(differenceOf(plain.y, golden.tensors.y)).toBeGreaterThan(0.1);
    });

    test('with B = 0 has no gradient in A, but one in B', async () => {
      const outputs = await runJoint({ ...goldenFeeds, ...withoutB });
      for (const name of adapters) {
        const largest = Math.max(...(outputs[gradientName(name)]?.data ?? []).map(Math.abs));
        if (name.includes('lora_A')) expect(largest, name).toBe(0);
        else expect(largest, name).toBeGreaterThan(1);
      }
    });

    test('scales by alpha / r', async () => {
      const twice = build(config, { r: lora.r, lora_alpha: 2 * lora.lora_alpha });
      const halved = adapters
        .filter((name) => name.includes('lora_B'))
        .map((name) => {
          const { data, shape } = goldenFeeds[name] as Tensor<'float32'>;
          return [
            name,
            tensor(
              data.map((value) => value / 2),
              shape,
            ),
          ];
        });
      const outputs = await runWith(twice, { ...goldenFeeds, ...Object.fromEntries(halved) });
      expectClose(outputs, { expected: golden.tensors, within: 1e-5, names: ['y'] });
    });
  });
});
