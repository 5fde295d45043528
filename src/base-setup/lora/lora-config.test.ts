import { describe, expect, it } from 'vitest';
import { LoraAdapter } from './lora-adapter.ts';
import { defaultLoraConfig, isTarget, loraScaling } from './lora-config.ts';

const modules = new Map([
  ['transformer.h.0.attn.c_attn', [12, 4]],
  ['transformer.h.0.attn.c_proj', [4, 4]],
  ['transformer.h.0.mlp.c_proj', [4, 8]],
] as const);

describe('isTarget()', () => {
  const lora = { r: 1, lora_alpha: 1 };

  it('takes whole names and last parts, never a part of a name', () => {
    const only = { ...lora, target_modules: ['q_proj', 'attn.c_proj', 'model.layers.0.up_proj'] };
    expect(isTarget('q_proj', only)).toBe(true);
    expect(isTarget('model.layers.0.self_attn.q_proj', only)).toBe(true);
    expect(isTarget('model.layers.0.self_attn.fq_proj', only)).toBe(false);
    expect(isTarget('transformer.h.0.attn.c_proj', only)).toBe(true);
    expect(isTarget('transformer.h.0.mlp.c_proj', only)).toBe(false);
    expect(isTarget('model.layers.1.up_proj', only)).toBe(false);
  });

  it('takes all modules for "all-linear" and where no targets are given', () => {
    expect(isTarget('mlp.up_proj', { ...lora, target_modules: 'all-linear' })).toBe(true);
    expect(isTarget('mlp.up_proj', lora)).toBe(true);
  });

  it('takes none without an adapter', () => {
    expect(isTarget('q_proj', undefined)).toBe(false);
  });
});

it('loraScaling() is alpha / r, rank-stabilised alpha / √r', () => {
  expect(loraScaling({ r: 4, lora_alpha: 8 })).toBe(2);
  expect(loraScaling({ r: 4, lora_alpha: 8, use_rslora: true })).toBe(4);
});

describe('LoraAdapter', () => {
  it('has the attention of GPT-2 by default', () => {
    const adapter = LoraAdapter.create(defaultLoraConfig, modules);
    expect(adapter.modules()).toEqual([
      'transformer.h.0.attn.c_attn',
      'transformer.h.0.attn.c_proj',
    ]);
    expect(adapter.weights.get('transformer.h.0.attn.c_attn.lora_B.weight')?.shape).toEqual([
      12, 16,
    ]);
  });

  it('refuses targets that name no module', () => {
    const config = { r: 1, lora_alpha: 1, target_modules: ['query'] };
    expect(() => LoraAdapter.create(config, modules)).toThrow(
      new Error(
        'Cannot create an adapter: target_modules must name modules that end in c_attn, c_proj, got ["query"]',
      ),
    );
  });
});
