import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { learnStories } from '../../bench/learning/stories.ts';

const folder = fileURLToPath(new URL('../../../shared/assets/stories15M-hf', import.meta.url));

describe('PPO on a real pretrained model', () => {
  it.skipIf(!existsSync(folder))(
    'makes stories happier without breaking them (needs ../shared/assets/stories15M-hf)',
    { timeout: 600_000 },
    async () => {
      const { before, after } = await learnStories(folder, { steps: 40 });
      expect(after.reward).toBeGreaterThan(before.reward + 0.05);
      expect(after.perplexity).toBeLessThan(2 * before.perplexity);
    },
  );
});
