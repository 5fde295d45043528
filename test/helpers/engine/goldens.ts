import { expect } from 'vitest';
import { gradientName } from '../../../src/engine/graph/grad.ts';
import type { Tensor } from '../../../src/engine/runtime/index.ts';
import { expectClose } from '../expect-close.ts';
import type { Call } from './call-op.ts';
import { type Golden, goldenFeeds, goldenGraph } from './golden-cases.ts';
import { pickFeeds, withCompiled } from './run-graph.ts';

/** Both sides are float32: allows a few roundings of the largest term. */
const TOLERANCE = 1e-5;

/** Compares outputs and gradients of a call with the golden's. */
export async function expectGolden(call: Call, golden: Golden): Promise<void> {
  const graph = goldenGraph(call, golden);
  const feeds = goldenFeeds(golden);
  const results = await withCompiled(graph, (compiled) => compiled.run(pickFeeds(graph, feeds)));
  const expected = {
    ...golden.outputs,
    ...Object.fromEntries(
      Object.entries(golden.gradients).map(([name, value]) => [gradientName(name), value]),
    ),
  };
  expect(Object.keys(results).sort()).toEqual(Object.keys(expected).sort());
  for (const [name, { dtype, shape, data }] of Object.entries(expected)) {
    const actual = results[name] as Tensor;
    expect({ dtype: actual.dtype, shape: actual.shape }, name).toEqual({ dtype, shape });
    expectClose(actual.data, { expected: data, within: TOLERANCE, label: name });
  }
}
