import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { makeCalculatorModel, saveCalculatorModel } from '../bench/tools/calculator-model.ts';
import { readDocument, root, SnippetFolder } from './helpers/doc-snippets.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 });

const folder = new SnippetFolder();

beforeAll(async () => {
  const model = join(folder.path, 'model');
  const { base } = makeCalculatorModel(0);
  await saveCalculatorModel(model, base);
  await base.dispose();
  await folder.fillCache(model);
  symlinkSync(join(root, 'node_modules'), join(folder.path, 'node_modules'));
});

afterAll(() => folder.remove());

test("the guide's agent is trained as printed, in at most 40 lines", () => {
  const [code = ''] = readDocument('docs/agents.md').blocks('ts');
  expect(code.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
  const { status, stdout, stderr } = folder.runSnippet(code);
  expect(status, stderr).toBe(0);
  expect(stdout).toMatch(/^[\d.]+ turns, [\d.]+ calls per episode\n$/);
});
