import type { LabelAnswer, LabelQueue, LabelTask } from '../api.ts';
import type { Agreement } from './agreement.ts';

/** A queue in the list, with how far agreement goes beyond chance. */
export interface QueueProgress extends LabelQueue, Agreement {}

/** Something to label. Names and answers that come here are checked in their form. */
export interface Queue {
  progress(): Promise<QueueProgress>;
  /** A task that this labeller has not answered; undefined if there is none. */
  next(labeller: string): Promise<LabelTask | undefined>;
  /** Keeps an answer whose places are those that `next` showed. */
  answer(answer: LabelAnswer): Promise<void>;
  /** Takes back the labeller's last answer and gives its task again. */
  undo(labeller: string): Promise<LabelTask>;
  /** A row for each answer, as `proximal reward` reads them. */
  export(): Promise<readonly object[]>;
}
