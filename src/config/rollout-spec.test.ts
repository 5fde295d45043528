import { describe, expect, test } from 'vitest';
import { resolvePPOConfig } from './ppo-config.ts';
import { parseRolloutSpec } from './rollout-spec.ts';

describe('parseRolloutSpec()', () => {
  test('splits a server into its kind and address', () => {
    expect(parseRolloutSpec('vllm:http://host:8000')).toEqual({
      kind: 'vllm',
      url: new URL('http://host:8000'),
    });
    expect(parseRolloutSpec('sglang:https://u:p@host/base')!.url.pathname).toBe('/base');
    for (const text of ['http://host', 'tgi:http://host', 'vllm:host:8000', 'vllm:http://']) {
      expect(parseRolloutSpec(text), text).toBeUndefined();
    }
  });
});

describe('the setting rollouts', () => {
  test('is optional, and an error never shows a password', () => {
    expect(resolvePPOConfig().rollouts).toBeUndefined();
    expect(() => resolvePPOConfig({ rollouts: 'http://Ada:pass@host:8000' })).toThrow(
      'Cannot use the PPO config: rollouts must be vllm: or sglang: and a URL, such as vllm:http://localhost:8000, got http://host:8000',
    );
  });

  test('rejects filters with SGLang, whose logprobs do not contain them', () => {
    const rollouts = 'sglang:http://host:30000';
    expect(resolvePPOConfig({ rollouts, temperature: 0.7 }).rollouts).toBe(rollouts);
    expect(() => resolvePPOConfig({ rollouts, topP: 0.9 })).toThrow(
      'topP must be 1 with rollouts by SGLang, whose logprobs ignore filters, got 0.9; use vLLM to filter',
    );
    expect(() => resolvePPOConfig({ rollouts, topK: 5 })).toThrow('topK must be unset');
    expect(resolvePPOConfig({ rollouts: 'vllm:http://host', topP: 0.9 }).topP).toBe(0.9);
  });
});
