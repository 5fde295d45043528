import { describe, expect, it } from 'vitest';
import { defaultLoraFields } from '../../config/lora-config.ts';
import { LoraAdapter } from './lora-adapter.ts';
import { defaultLoraConfig, isTarget, loraScaling, toLoraConfig } from './lora-config.ts';

const modules = new Map([
  ['transformer.h.0.attn.c_attn', [12, 4]],
  ['transformer.h.0.attn.c_proj', [4, 4]],
  ['transformer.h.0.mlp.c_proj', [4, 8]],
] as const);

describe('isTarget()', () => {
  const lora = { r: 1, lora_alpha: 1 };

  it('matches whole names and the last parts of names, but no partial words', () => {
    const only = { ...lora, target_modules: ['q_proj', 'attn.c_proj', 'model.layers.0.up_proj'] };
    expect(isTarget('q_proj', only)).toBe(true);
    expect(isTarget('model.layers.0.self_attn.q_proj', only)).toBe(true);
    expect(isTarget('model.layers.0.self_attn.fq_proj', only)).toBe(false);
    expect(isTarget('transformer.h.0.attn.c_proj', only)).toBe(true);
    expect(isTarget('transformer.h.0.mlp.c_proj', only)).toBe(false);
    expect(isTarget('model.layers.1.up_proj', only)).toBe(false);
  });

  it('matches every module for "all-linear" or if there are no targets', () => {
    expect(isTarget('mlp.up_proj', { ...lora, target_modules: 'all-linear' })).toBe(true);
    expect(isTarget('mlp.up_proj', lora)).toBe(true);
  });

  it('matches modules of the layers to transform only', () => {
    const upper = { ...lora, layers_to_transform: [1, 12] };
    expect(isTarget('model.layers.1.self_attn.q_proj', upper)).toBe(true);
    expect(isTarget('transformer.h.12.attn.c_attn', upper)).toBe(true);
    expect(isTarget('model.layers.2.self_attn.q_proj', upper)).toBe(false);
    // The first number is the layer's.
    expect(isTarget('model.layers.2.experts.1.up_proj', upper)).toBe(false);
    expect(isTarget('lm_head', upper)).toBe(false);
  });

  it('matches nothing without an adapter', () => {
    expect(isTarget('q_proj', undefined)).toBe(false);
  });
});

it('toLoraConfig() uses PEFT names, and all-linear instead of a list that has it', () => {
  const common = { loraR: 4, loraAlpha: 8, loraDropout: 0, loraLayers: 'all' };
  const fields = { ...common, loraTargets: ['q_proj'] };
  const lora = { r: 4, lora_alpha: 8, lora_dropout: 0 };
  expect(toLoraConfig(fields, { num_hidden_layers: 2 })).toEqual({
    ...lora,
    target_modules: ['q_proj'],
  });
  const all = { ...fields, loraTargets: ['q_proj', 'all-linear'] };
  expect(toLoraConfig(all, { num_hidden_layers: 2 })).toEqual({
    ...lora,
    target_modules: 'all-linear',
  });
});

describe('toLoraConfig() with loraLayers', () => {
  const layersOf = (loraLayers: number | string) =>
    toLoraConfig({ ...defaultLoraFields, loraLayers }, { num_hidden_layers: 6 })
      .layers_to_transform;

  it('lists the upper layers or a range, and nothing for all layers', () => {
    expect(layersOf(2)).toEqual([4, 5]);
    expect(layersOf('2')).toEqual([4, 5]);
    expect(layersOf('1-3')).toEqual([1, 2, 3]);
    expect(layersOf('5-5')).toEqual([5]);
    for (const all of ['all', 6, '0-5']) expect(layersOf(all)).toBeUndefined();
  });

  it.each([7, '4-6', '3-2'])('rejects %s for a model of 6 layers', (loraLayers) => {
    expect(() => layersOf(loraLayers)).toThrow(
      new RangeError(
        `Cannot create an adapter: loraLayers and valueLoraLayers must be all, a number up to 6 or a range within 0-5 for a model of 6 layers, got ${loraLayers}`,
      ),
    );
  });
});

it('loraScaling() is alpha / r, or alpha / √r if rank-stabilised', () => {
  expect(loraScaling({ r: 4, lora_alpha: 8 })).toBe(2);
  expect(loraScaling({ r: 4, lora_alpha: 8, use_rslora: true })).toBe(4);
});

describe('LoraAdapter', () => {
  it('adapts the attention of GPT-2 by default', () => {
    const adapter = LoraAdapter.create(defaultLoraConfig, modules);
    expect(adapter.modules()).toEqual([
      'transformer.h.0.attn.c_attn',
      'transformer.h.0.attn.c_proj',
    ]);
    expect(adapter.weights.get('transformer.h.0.attn.c_attn.lora_B.weight')?.shape).toEqual([
      12, 16,
    ]);
  });

  it('rejects targets that match no module', () => {
    const config = { r: 1, lora_alpha: 1, target_modules: ['query'] };
    expect(() => LoraAdapter.create(config, modules)).toThrow(
      new Error(
        'Cannot create an adapter: target_modules must name modules that end in c_attn, c_proj, got ["query"]',
      ),
    );
  });
});
