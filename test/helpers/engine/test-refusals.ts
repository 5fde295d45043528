import { describe, expect, test } from 'vitest';
import type { Shape } from '../../../src/engine/graph/dim.ts';
import { input } from '../../../src/engine/graph/ops/source.ts';
import type { DType, Value } from '../../../src/engine/graph/value.ts';

export const of = (dtype: DType) => (shape: Shape) => input('operand', shape, dtype);
/** Operands by type, written as error messages write them. */
export const float32 = of('float32');
export const int32 = of('int32');
export const bool = of('bool');
export const uint8 = of('uint8');

type Refusal = readonly [rule: string, call: () => Value | Value[], error: Error];

/** One test for each rule: the call that breaks it throws an error of this class and message. */
export function testRefusals(name: string, refusals: readonly Refusal[]): void {
  describe(name, () => {
    test.each(refusals)('%s', (_, call, error) => {
      expect(call).toThrow(error);
    });
  });
}
