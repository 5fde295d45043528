import { isDeepStrictEqual } from 'node:util';
import { randomStream } from '../../engine/random/index.ts';
import type { LabelAnswer, LabelChoice, LabelQueue, LabelTask, LabelTaskKind } from '../api.ts';
import { RequestError } from '../server/http/request-error.ts';
import { type Agreement, measureAgreement } from './agreement.ts';
import { type AnswerBook, findChoiceFault } from './answer-log.ts';
import type { StoredTask } from './queue-schema.ts';

/** A queue in the list, with its agreement. */
export interface QueueProgress extends LabelQueue, Agreement {}

/** A queue of tasks to label. Names and answers passed to it are already validated. */
export interface Queue {
  progress(): Promise<QueueProgress>;
  /** A task that this labeller has not answered; undefined if there is none. */
  next(labeller: string): Promise<LabelTask | undefined>;
  /** Saves an answer; its indices refer to the responses as `next` showed them. The same answer again
   *  changes nothing: a page sends it again if it got no response. */
  answer(answer: LabelAnswer): Promise<void>;
  /** Removes the labeller's last answer and returns its task. */
  undo(labeller: string): Promise<LabelTask>;
  /** A row per answer, as `proximal reward` reads them. */
  export(): Promise<readonly object[]>;
}

/** Runs the writes of a queue one after another, since each depends on the earlier ones. */
export class WriteSequence {
  private last: Promise<unknown> = Promise.resolve();

  run<T>(write: () => Promise<T>): Promise<T> {
    const written = this.last.then(write);
    // The caller gets the error; the next write starts anyway.
    this.last = written.catch(() => {});
    return written;
  }
}

export interface QueueParts {
  readonly id: string;
  readonly kind: LabelTaskKind;
  readonly tasks: readonly StoredTask[];
  readonly book: AnswerBook;
}

/** A choice in terms of stored responses, and the order in which they were shown. */
export interface StoredChoice {
  readonly choice: LabelChoice;
  readonly order: readonly number[];
}

/** Tasks with their answers: decides what to show next and validates answers. */
export class QueueState {
  private readonly parts: QueueParts;

  constructor(parts: QueueParts) {
    this.parts = parts;
  }

  progress(): Omit<QueueProgress, 'name' | 'question' | 'live' | 'run' | 'next'> {
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

  /** A task that this labeller has not answered, among those with the fewest answers. */
  next(labeller: string): LabelTask | undefined {
    const { id: queue, tasks, book } = this.parts;
    const open = tasks.filter(({ id }) => !book.answersTo(id).has(labeller));
    const counts = open.map(({ id }) => book.answersTo(id).size);
    const fewest = counts.reduce((least, count) => Math.min(least, count), Infinity);
    const rarest = open.filter((_, i) => counts[i] === fewest);
    const [task] = taskOrder(rarest, { queue, labeller });
    return task && this.show(task, labeller);
  }

  /** Converts an answer to stored responses; rejects one that is not valid. Undefined if the labeller
   *  has already given the same answer. */
  convert({ task: id, labeller, answer, note = '' }: LabelAnswer): StoredChoice | undefined {
    const { tasks, kind, book } = this.parts;
    const task = tasks.find((other) => other.id === id);
    if (task === undefined) {
      const got = JSON.stringify(id.slice(0, 60));
      throw new RequestError(404, `Cannot save the answer: task must be in the queue, got ${got}`);
    }
    const fault = findChoiceFault(answer, { kind, count: task.responses.length });
    if (fault !== undefined) throw new RequestError(400, `Cannot save the answer: ${fault}`);
    const order = this.order(task, labeller);
    const choice = toStored(answer, order);
    const earlier = book.answersTo(id).get(labeller);
    if (earlier === undefined) return { choice, order };
    if (isDeepStrictEqual(earlier.answer, choice) && (earlier.note ?? '') === note)
      return undefined;
    throw new RequestError(
      409,
      `Cannot save the answer: ${labeller} has already answered task ${id} differently; undo that answer first`,
    );
  }

  /** The task that this labeller answered last. */
  last(labeller: string): LabelTask {
    const { tasks, book } = this.parts;
    const id = book.lastTaskOf(labeller);
    if (id === undefined) {
      throw new RequestError(409, `Cannot undo: ${labeller} has no answer in this queue`);
    }
    const task = tasks.find((other) => other.id === id);
    if (task !== undefined) return this.show(task, labeller);
    throw new RequestError(409, 'Cannot undo: the run has already used this score');
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

/** The order in which a labeller sees the responses of a task: random, but always the same for the same
 *  labeller.
 *  @example 3 responses  →  [2, 0, 1]: the last one is shown first */
export function showOrder(count: number, { queue, task, labeller }: ShowKey): number[] {
  const places = Array.from({ length: count }, (_, place) => place);
  return randomStream(0, 'label order', queue, task, labeller).shuffle(places);
}

/** The order in which a labeller sees tasks, so that several people start with different ones. */
export function taskOrder<T>(tasks: readonly T[], { queue, labeller }: Omit<ShowKey, 'task'>): T[] {
  return randomStream(0, 'label tasks', queue, labeller).shuffle(tasks);
}

/** Converts a choice from shown to stored indices.
 *  @example order [2, 0, 1]: ranking [1, 0, 2]  →  [0, 2, 1]
 *  @example order [1, 0]: choice 0  →  1 */
export function toStored(choice: LabelChoice, order: readonly number[]): LabelChoice {
  if (choice.kind === 'ranking') {
    return { kind: 'ranking', order: choice.order.map((place) => order[place]!) };
  }
  if (choice.kind === 'rating' || typeof choice.choice === 'string') return choice;
  return { kind: 'pair', choice: order[choice.choice] as 0 | 1 };
}
