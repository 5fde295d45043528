import { randomStream } from '../../engine/random/index.ts';
import type { LabelAnswer, LabelChoice, LabelQueue, LabelTask, LabelTaskKind } from '../api.ts';
import { Refusal } from '../server/http/request-error.ts';
import { type Agreement, measureAgreement } from './agreement.ts';
import { type AnswerBook, findChoiceFault } from './answer-log.ts';
import type { StoredTask } from './queue-schema.ts';

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

export interface QueueParts {
  readonly id: string;
  readonly kind: LabelTaskKind;
  readonly tasks: readonly StoredTask[];
  readonly book: AnswerBook;
}

/** A choice by stored places, and how the responses were shown. */
export interface PlacedChoice {
  readonly choice: LabelChoice;
  readonly order: readonly number[];
}

/** Tasks and what was answered to them: what to show next, and what may be answered. */
export class QueueState {
  private readonly parts: QueueParts;

  constructor(parts: QueueParts) {
    this.parts = parts;
  }

  progress(): Omit<QueueProgress, 'name' | 'live'> {
    const { id, kind, tasks, book } = this.parts;
    const answers = tasks.map((task) => [...book.answersTo(task.id).values()]);
    const choices = answers.map((given) => given.map(({ answer }) => answer));
    return {
      ...{ id, kind, total: tasks.length },
      answered: answers.filter(({ length }) => length > 0).length,
      labellers: book.labellersOf(tasks),
      ...measureAgreement(choices, kind),
    };
  }

  /** One of those with the fewest answers, so that work is spread, and none that this labeller has
   *  answered. */
  next(labeller: string): LabelTask | undefined {
    const { id: queue, tasks, book } = this.parts;
    const open = tasks.filter(({ id }) => !book.answersTo(id).has(labeller));
    const counts = open.map(({ id }) => book.answersTo(id).size);
    const fewest = counts.reduce((least, count) => Math.min(least, count), Infinity);
    const rarest = open.filter((_, i) => counts[i] === fewest);
    const [task] = taskOrder(rarest, { queue, labeller });
    return task && this.show(task, labeller);
  }

  /** What an answer says, by stored places; refuses one that cannot be kept. */
  place({ task: id, labeller, answer }: LabelAnswer): PlacedChoice {
    const { tasks, kind, book } = this.parts;
    const task = tasks.find((other) => other.id === id);
    if (task === undefined) {
      const got = JSON.stringify(id.slice(0, 60));
      throw new Refusal(404, `Cannot keep the answer: task must be one of the queue's, got ${got}`);
    }
    const fault = findChoiceFault(answer, { kind, count: task.responses.length });
    if (fault !== undefined) throw new Refusal(400, `Cannot keep the answer: ${fault}`);
    if (book.answersTo(id).has(labeller)) {
      throw new Refusal(
        409,
        `Cannot keep the answer: ${labeller} must not have answered task ${id} before, got a second answer; undo the first`,
      );
    }
    const order = this.order(task, labeller);
    return { choice: toStored(answer, order), order };
  }

  /** The task that this labeller answered last, as it is shown again. */
  last(labeller: string): LabelTask {
    const { tasks, book } = this.parts;
    const id = book.lastTaskOf(labeller);
    if (id === undefined) {
      throw new Refusal(409, `Cannot undo: ${labeller} must have an answer here, got none`);
    }
    const task = tasks.find((other) => other.id === id);
    if (task !== undefined) return this.show(task, labeller);
    throw new Refusal(
      409,
      'Cannot undo: the run must still wait for the score, got one it has used',
    );
  }

  private order({ id: task, responses }: StoredTask, labeller: string): number[] {
    return showOrder(responses.length, { queue: this.parts.id, task, labeller });
  }

  private show(task: StoredTask, labeller: string): LabelTask {
    const { id, prompt, responses } = task;
    const texts = this.order(task, labeller).map((place) => responses[place]!.text);
    return { id, kind: this.parts.kind, prompt, responses: texts };
  }
}

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
