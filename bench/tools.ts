import { SEEDS } from './learning.ts';
import { ALGORITHMS, type LearnedTools, learnTools } from './tools/learn-tools.ts';

/** Checks that PPO and GRPO learn to use a calculator, with five seeds each. */
export async function benchTools(): Promise<{ readonly seeds: readonly LearnedTools[] }> {
  const seeds: LearnedTools[] = [];
  for (const algorithm of ALGORITHMS) {
    for (const seed of SEEDS) {
      const learned = await learnTools(algorithm, { seed });
      console.error(`${algorithm}, seed ${seed}: ${learned.before} → ${learned.after}`);
      seeds.push(learned);
    }
  }
  return { seeds };
}
