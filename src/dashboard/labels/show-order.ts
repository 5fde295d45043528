import { randomStream } from '../../engine/random/index.ts';
import type { LabelChoice } from '../api.ts';

export interface ShowKey {
  readonly queue: string;
  readonly task: string;
  readonly labeller: string;
}

/** The places of a task's responses in the order in which a labeller sees them: always the same for
 *  the same labeller, and as random as any other.
 *  @example 3 responses  →  [2, 0, 1]: the last one is shown first */
export function showOrder(count: number, { queue, task, labeller }: ShowKey): number[] {
  const places = Array.from({ length: count }, (_, place) => place);
  return randomStream(0, 'label order', queue, task, labeller).shuffle(places);
}

/** The order in which a labeller comes to a queue's tasks, so that several people begin at
 *  different ones. */
export function taskOrder<T>(tasks: readonly T[], { queue, labeller }: Omit<ShowKey, 'task'>): T[] {
  return randomStream(0, 'label tasks', queue, labeller).shuffle(tasks);
}

/** A choice by shown places as one by stored places.
 *  @example order [2, 0, 1]: ranking [1, 0, 2]  →  [0, 2, 1]
 *  @example order [1, 0]: choice 0  →  1 */
export function toStored(choice: LabelChoice, order: readonly number[]): LabelChoice {
  if (choice.kind === 'ranking') {
    return { kind: 'ranking', order: choice.order.map((place) => order[place]!) };
  }
  if (choice.kind === 'rating' || typeof choice.choice === 'string') return choice;
  return { kind: 'pair', choice: order[choice.choice] as 0 | 1 };
}
