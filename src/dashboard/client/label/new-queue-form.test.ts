import { describe, expect, test } from 'vitest';
import type { RunSummary } from '../../api.ts';
import { readQueueFields } from './new-queue-form.tsx';

const runs = [
  { id: 'r1', name: 'ppo-a' },
  { id: 'r2', name: 'ppo-b' },
] as unknown as readonly RunSummary[];

describe('readQueueFields()', () => {
  test('reads the samples of a run from a given step', () => {
    const fields = {
      name: ' My queue ',
      kind: 'pair',
      from: 'samples',
      run: 'r1',
      fromStep: '20',
      limit: '50',
    };
    expect(readQueueFields(fields, runs)).toEqual({
      name: 'My queue',
      kind: 'pair',
      source: { from: 'samples', run: 'r1', fromStep: 20 },
      limit: 50,
    });
  });

  test('leaves out empty fields and names the queue after its source', () => {
    const empty = { name: '', limit: '', responses: '' };
    const sample = { ...empty, kind: 'rating', from: 'samples', run: 'r1', fromStep: ' ' };
    expect(readQueueFields(sample, runs)).toEqual({
      name: 'ratings of ppo-a',
      kind: 'rating',
      source: { from: 'samples', run: 'r1' },
    });
    const file = { ...empty, kind: 'pair', from: 'file', file: 'data/a.jsonl ' };
    expect(readQueueFields(file, runs)).toEqual({
      name: 'pairs of a.jsonl',
      kind: 'pair',
      source: { from: 'file', file: 'data/a.jsonl' },
    });
  });

  test('reads a comparison with the reference or with another run, and a question', () => {
    const fields = {
      kind: 'pair',
      from: 'compare',
      run: 'r1',
      against: '',
      question: '',
      name: '',
    };
    expect(readQueueFields(fields, runs)).toEqual({
      name: 'ppo-a against its reference',
      kind: 'pair',
      source: { from: 'compare', run: 'r1' },
    });
    const both = { ...fields, kind: 'rating', against: 'r2', question: ' Is it true? ' };
    expect(readQueueFields(both, runs)).toEqual({
      name: 'ppo-a against ppo-b',
      kind: 'rating',
      question: 'Is it true?',
      source: { from: 'compare', run: 'r1', against: 'r2' },
    });
  });

  test('only a ranking has a number of responses', () => {
    const fields = {
      kind: 'ranking',
      from: 'generate',
      model: 'Qwen/Qwen3-0.6B',
      prompts: 'p.txt',
      maxNewTokens: '64',
      responses: '4',
    };
    expect(readQueueFields(fields, runs)).toEqual({
      name: 'rankings of Qwen3-0.6B',
      kind: 'ranking',
      source: { from: 'generate', model: 'Qwen/Qwen3-0.6B', prompts: 'p.txt', maxNewTokens: 64 },
      responses: 4,
    });
    expect(readQueueFields({ ...fields, kind: 'pair' }, runs)).not.toHaveProperty('responses');
  });
});
