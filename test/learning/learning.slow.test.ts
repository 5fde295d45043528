import { describe, expect, it } from 'vitest';
import { learn } from '../../bench/learning/learn.ts';
import { tasks } from '../../bench/learning/tasks.ts';
import { SEEDS } from '../../bench/learning.ts';

/** A run takes about 10 s on two idle cores; a busy machine must not fail the test. */
const TIMEOUT = 600_000;

describe.each(tasks)('PPO learns $name', (task) => {
  const { margin, kl, explainedVariance } = task.bounds;

  it.each(SEEDS)('from seed %i', { timeout: TIMEOUT }, async (seed) => {
    const learned = await learn(task, { seed });
    expect(learned.after - learned.before).toBeGreaterThan(margin);
    expect(learned.kl).toBeLessThan(kl);
    expect(learned.explained_variance).toBeGreaterThan(explainedVariance);
  });

  it('and moves far from the reference without the KL penalty', { timeout: TIMEOUT }, async () => {
    const learned = await learn(task, { seed: SEEDS[0]!, klCoef: 0 });
    expect(learned.kl).toBeGreaterThan(kl);
  });
});
