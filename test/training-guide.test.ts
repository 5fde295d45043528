import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readDocument, SnippetFolder } from './helpers/doc-snippets.ts';

const snippets = readDocument('docs/training.md').blocks('ts');
const folder = new SnippetFolder();

/** Runs the snippet that contains a text and returns its output. */
function runSnippetWith(text: string): string {
  const found = snippets.filter((code) => code.includes(text));
  expect(found).toHaveLength(1);
  const { status, stdout, stderr } = folder.runSnippet(found[0]!);
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout;
}

describe('the training guide', () => {
  beforeAll(() => folder.fillCache());
  afterAll(() => folder.remove());

  test('basic use trains and prints the final reward', () => {
    expect(runSnippetWith('Final reward')).toMatch(/^Final reward: -?\d+\.\d{4}\n$/);
  });

  test('weighted functions have metrics by source', () => {
    const [brevity, friendly] = runSnippetWith('const brevity').trim().split(' ').map(Number);
    expect(brevity).toBeLessThan(0);
    expect(friendly).toBe(0);
  });

  test('a custom reward model trains with a callback per epoch, and the adapter is saved', () => {
    const lines = runSnippetWith('class CustomRewardModel').trim().split('\n');
    expect(lines).toHaveLength(20);
    lines.forEach((line, i) => {
      expect(line).toMatch(new RegExp(`^Epoch ${i + 1}: Reward = -?\\d+\\.\\d{4}$`));
    });
    expect(existsSync(join(folder.path, 'my-adapter', 'adapter_model.safetensors'))).toBe(true);
  });

  test('monitoring shows four numbers per epoch, steps and evaluations', () => {
    const printed = runSnippetWith('Policy Loss');
    for (const name of ['Policy Loss', 'Value Loss', 'KL Divergence', 'Average Reward']) {
      expect(printed.match(new RegExp(`^  ${name}: -?\\d+\\.\\d{4}$`, 'gm'))).toHaveLength(3);
    }
    expect(printed.match(/^step \d: /gm)).toHaveLength(3);
    expect(printed).toContain('The first validation reward is');
  });

  test('training saves checkpoints, resumes from them and restores the best', () => {
    const [last, best] = runSnippetWith("output: 'my-run'").trim().split(' ');
    expect(last).toBe(join('my-run', 'checkpoints', 'checkpoint-000002'));
    expect(best).toMatch(/checkpoint-00000[0-2]$/);
    expect(existsSync(join(folder.path, 'best-adapter', 'adapter_model.safetensors'))).toBe(true);
  });

  test('every token has numbers', () => {
    const lines = runSnippetWith('TokenAttributor').trim().split('\n');
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      const numbers = line.split(' ').slice(-6).map(Number);
      expect(numbers.every(Number.isFinite), line).toBe(true);
    }
  });

  test('a run is controlled between its steps', () => {
    expect(runSnippetWith('betweenSteps')).toBe('completed All steps are done\n');
  });

  test('a part of a step can be replaced', () => {
    expect(runSnippetWith('replace:')).toBe('');
  });
});
