import type { RandomStream } from '../../engine/random/index.ts';

/** One of the items, each as likely as any other. */
export function choose<T>(items: readonly T[], random: RandomStream): T {
  return items[random.integer(items.length)]!;
}

/** Whether something of a probability happens. */
export function happens(probability: number, random: RandomStream): boolean {
  return random.next() < probability;
}
