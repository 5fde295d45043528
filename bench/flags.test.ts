import { describe, expect, it } from 'vitest';
import { readFlags } from './flags.ts';
import { layerRange } from './ppo-step/cases.ts';

describe('readFlags()', () => {
  it('reads every flag of ppo-step', () => {
    const line =
      'ppo-step --case mixed --base-precision int8 --precision f32 --peer py --peers torch,trl --rounds 2 --contended --quiet --lora-layers 8 --json';
    expect(readFlags(line.split(' '))).toEqual({
      name: 'ppo-step',
      json: true,
      options: {
        ...{ case: 'mixed', basePrecision: 'int8', precision: 'f32', loraLayers: 8 },
        ...{ python: 'py', peers: ['torch', 'trl'], rounds: 2, contended: true, quiet: true },
        seeds: 1,
      },
    });
  });

  it('reads a range of layers', () => {
    expect(readFlags(['ppo-step', '--lora-layers', '4-11']).options.loraLayers).toEqual([4, 11]);
  });

  it.each([
    ['block', '--peer', '--json'],
    ['block', '--json', '--peer'],
  ])('uses python3 for a --peer without a value: %s %s %s', (...line) => {
    expect(readFlags(line).options.python).toBe('python3');
  });

  it.each([
    ['--case', 'long', 'Cannot use --case: it must be default, mixed or samples, got "long"'],
    [
      '--precision',
      'int4',
      'Cannot use --precision: it must be f32, f32-feeds, int8 or int8-packed, got "int4"',
    ],
    [
      '--base-precision',
      'bf16',
      'Cannot use --base-precision: it must be f32, int8 or auto, got "bf16"',
    ],
    ['--peers', 'torch,jax', 'Cannot use --peers: it must be torch, torch_bf16 or trl, got "jax"'],
    ['--rounds', '0', 'Cannot use --rounds: it must be a whole number from 1, got "0"'],
    ['--seeds', 'five', 'Cannot use --seeds: it must be a whole number from 1, got "five"'],
    [
      '--lora-layers',
      '9-4',
      'Cannot use --lora-layers: it must be a number of upper layers or a range such as 4-11, got "9-4"',
    ],
  ])('rejects %s %s', (flag, value, message) => {
    expect(() => readFlags(['ppo-step', flag, value])).toThrow(message);
  });
});

describe('layerRange()', () => {
  it('counts upper layers from the last', () => {
    expect(layerRange(8, 28)).toEqual([20, 27]);
  });

  it('keeps a range', () => {
    expect(layerRange([4, 11], 28)).toEqual([4, 11]);
  });

  it.each([[29 as const], [[20, 28] as const]])(
    'rejects layers that do not exist: %j',
    (layers) => {
      expect(() => layerRange(layers, 28)).toThrow(
        'Cannot use --lora-layers: the model has layers 0 to 27',
      );
    },
  );
});
