import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { mean } from '../src/columns/index.ts';
import { readDocument, root, SnippetFolder } from './helpers/doc-snippets.ts';

const stories = join(root, '../shared/assets/stories15M-hf');

test.skipIf(!existsSync(stories))(
  'the first snippet of the README learns on a model of 15 million parameters',
  async () => {
    const folder = new SnippetFolder();
    onTestFinished(() => folder.remove());
    await folder.fillCache(stories);
    const { stdout, stderr } = folder.runSnippet(readDocument('README.md').blocks('ts')[0]!);
    expect(stderr).toBe('');
    const scores = [...stdout.matchAll(/^\d+ (\S+)/gm)].map(([, score]) => Number(score));
    expect(scores).toHaveLength(20);
    // 0.4 and 2.5 when this was written; the highest score is 3.
    expect(mean(scores.slice(-5))).toBeGreaterThan(mean(scores.slice(0, 2)) + 1);
  },
  900_000,
);
