import { describe, expect, test } from 'vitest';
import { callFunction, type FunctionName } from '../../../test/helpers/engine/call-function.ts';
import { callOp } from '../../../test/helpers/engine/call-op.ts';
import { readGoldens } from '../../../test/helpers/engine/golden-cases.ts';
import { expectGolden } from '../../../test/helpers/engine/goldens.ts';
import { type OpName, ops } from './ops/index.ts';
import type { Op } from './value.ts';

type CallableOp = keyof typeof callOp;

describe('torch goldens', () => {
  const opGoldens = readGoldens('ops');
  const functionGoldens = readGoldens('functions');

  for (const golden of opGoldens) {
    test(`${golden.function} agrees with torch: ${golden.name}`, async () => {
      await expectGolden(callOp[golden.function as CallableOp], golden);
    });
  }

  for (const golden of functionGoldens) {
    test(`${golden.function} agrees with torch: ${golden.name}`, async () => {
      await expectGolden(callFunction[golden.function as FunctionName], golden);
    });
  }

  test('there is a golden for every op, and for every gradient', () => {
    const forward = new Set(opGoldens.map((golden) => golden.function));
    const backward = new Set(
      opGoldens
        .filter(({ gradients }) => Object.keys(gradients).length > 0)
        .map((golden) => golden.function),
    );
    const names = Object.keys(callOp) as CallableOp[];
    expect(names.filter((name) => !forward.has(name))).toEqual([]);
    const differentiable = (Object.keys(ops) as OpName[]).filter((name) => (ops[name] as Op).vjp);
    expect([...backward].sort()).toEqual(differentiable.sort());
  });

  test('there is a golden for the gradients of every function', () => {
    const asked = functionGoldens
      .filter(({ gradients }) => Object.keys(gradients).length > 0)
      .map((golden) => golden.function);
    expect([...new Set(asked)].sort()).toEqual(Object.keys(callFunction).sort());
  });
});
