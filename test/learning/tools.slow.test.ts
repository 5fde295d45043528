import { expect, it } from 'vitest';
import { ALGORITHMS, learnTools } from '../../bench/tools/learn-tools.ts';

it.each(ALGORITHMS)(
  '%s learns to use a calculator for products that the model cannot compute',
  { timeout: 900_000 },
  async (algorithm) => {
    const learned = await learnTools(algorithm, { seed: 0 });
    expect(learned.before).toBeLessThan(0.3);
    expect(learned.after).toBeGreaterThan(0.9);
    expect(learned.valid_calls).toBeGreaterThan(0.9);
  },
);
