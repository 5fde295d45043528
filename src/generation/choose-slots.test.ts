import { describe, expect, it } from 'vitest';
import { qwen3Architecture } from '../../bench/qwen3.ts';
import { chooseSlots } from './choose-slots.ts';
import { cacheBytes } from './kv-cache.ts';

const { config } = qwen3Architecture();

describe('chooseSlots()', () => {
  it('is 32 where their keys and values fit 1 GiB, else as many as fit, and at least one', () => {
    // 28·8·128·2·4 = 229,376 bytes a token; 128 tokens of 32 texts take 0.9 GiB, 192 would take 1.3.
    expect(chooseSlots(config, 100)).toBe(32);
    // ⌊2³⁰ / (192·229,376)⌋
    expect(chooseSlots(config, 129)).toBe(24);
    expect(chooseSlots(config, 30_000)).toBe(1);
  });
});

describe('cacheBytes()', () => {
  it('counts keys and values of all layers in steps of 64 tokens', () => {
    expect(cacheBytes(config, { slots: 1, length: 64 })).toBe(14_680_064);
    expect(cacheBytes(config, { slots: 3, length: 65 })).toBe(3 * 2 * 14_680_064);
  });
});
