import { describe, expect, test } from 'vitest';
import type { Shape } from '../../../src/engine/graph/dim.ts';
import { input } from '../../../src/engine/graph/ops/source.ts';
import type { DType, Value } from '../../../src/engine/graph/value.ts';

const of = (dtype: DType) => (shape: Shape) => input('operand', shape, dtype);
/** Operands by type, as in error messages. */
export const float32 = of('float32');
export const int32 = of('int32');
export const bool = of('bool');
export const int8 = of('int8');

type Rejection = readonly [rule: string, call: () => Value | Value[], error: Error];

/** One test per rule: the call that breaks it throws this error. */
export function testRejections(name: string, rejections: readonly Rejection[]): void {
  describe(name, () => {
    test.each(rejections)('%s', (_, call, error) => {
      expect(call).toThrow(error);
    });
  });
}
