import { describe, expect, it } from 'vitest';
import { compareMachines, describeMachine } from './machine.ts';

describe('compareMachines', () => {
  const own = { ...describeMachine(), threads: 2 };

  it('finds no difference between equal machines', () => {
    expect(compareMachines(own, { ...own })).toEqual([]);
  });

  it('names each difference with both values', () => {
    const needed = { version: '9.9.9', onnxRuntime: '1.0.0', instructions: 'x64 sse', threads: 8 };
    expect(compareMachines(needed, own)).toEqual([
      `version of Proximal must be 9.9.9, got ${own.version}`,
      `version of ONNX Runtime must be 1.0.0, got ${own.onnxRuntime}`,
      `instruction set must be x64 sse, got ${own.instructions}`,
      'number of threads must be 8, got 2',
    ]);
  });
});
