import type { LabelAnswer, LabelChoice, LabelTask, LabelTaskKind } from '../api.ts';
import { Refusal } from '../server/http/refusal.ts';
import { measureAgreement } from './agreement.ts';
import type { AnswerBook } from './answer-book.ts';
import { findChoiceFault } from './check-choice.ts';
import type { QueueProgress } from './queue.ts';
import type { StoredTask } from './queue-schema.ts';
import { showOrder, taskOrder, toStored } from './show-order.ts';

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
