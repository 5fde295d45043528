import { appendJsonLines, explainSystemError, JsonlTail } from '../../fs/index.ts';
import type { LabelChoice, LabelTaskKind } from '../api.ts';
import {
  type AnswerRow,
  answerRowSchema,
  type StoredAnswer,
  type StoredTask,
} from './queue-schema.ts';

/** The answers of a queue on disk. Other processes may write too, so each read includes their lines.
 *  Invalid lines, such as incomplete ones after a crash, are ignored. */
export class AnswerLog {
  private readonly path: string;
  private readonly kind: LabelTaskKind;
  private readonly tasks: ReadonlyMap<string, StoredTask>;
  private readonly tail: JsonlTail;
  private book = new AnswerBook();

  constructor(
    path: string,
    { kind, tasks }: { readonly kind: LabelTaskKind; readonly tasks: readonly StoredTask[] },
  ) {
    this.path = path;
    this.kind = kind;
    this.tasks = new Map(tasks.map((task) => [task.id, task]));
    this.tail = new JsonlTail(path, {
      add: (bytes) => this.add(bytes),
      clear: () => {
        this.book = new AnswerBook();
      },
    });
  }

  async read(): Promise<AnswerBook> {
    await this.tail.update();
    return this.book;
  }

  append(row: AnswerRow): void {
    try {
      appendJsonLines(this.path, [row]);
    } catch (error) {
      const action = 'undo' in row ? 'undo the label' : 'save the label';
      throw explainSystemError(error, { action, next: 'try again' });
    }
  }

  private add(bytes: Buffer): boolean {
    const row = parse(bytes);
    const isValid = row !== undefined && this.isAnswer(row);
    if (isValid) this.book.apply(row);
    return isValid;
  }

  private isAnswer(row: AnswerRow): boolean {
    const task = this.tasks.get('undo' in row ? row.undo : row.task);
    if (task === undefined) return false;
    if ('undo' in row) return true;
    const { length: count } = task.responses;
    return findChoiceFault(row.answer, { kind: this.kind, count }) === undefined;
  }
}

function parse(bytes: Buffer): AnswerRow | undefined {
  try {
    return answerRowSchema.safeParse(JSON.parse(bytes.toString())).data;
  } catch {
    return undefined;
  }
}

const none: ReadonlyMap<string, StoredAnswer> = new Map();

/** The current answers, from the rows of `answers.jsonl` in order. */
export class AnswerBook {
  /** By task, then by labeller. */
  private readonly answers = new Map<string, Map<string, StoredAnswer>>();
  /** The tasks of each labeller, in order of their answers. */
  private readonly tasks = new Map<string, Set<string>>();

  /** A second answer to the same task replaces the first. */
  apply(row: AnswerRow): void {
    const task = 'undo' in row ? row.undo : row.task;
    const { labeller } = row;
    const answers = entryOf(this.answers, task, () => new Map<string, StoredAnswer>());
    const tasks = entryOf(this.tasks, labeller, () => new Set<string>());
    answers.delete(labeller);
    tasks.delete(task);
    if ('undo' in row) return;
    answers.set(labeller, row);
    tasks.add(task);
  }

  /** The answers to a task by labeller, in order. */
  answersTo(task: string): ReadonlyMap<string, StoredAnswer> {
    return this.answers.get(task) ?? none;
  }

  lastTaskOf(labeller: string): string | undefined {
    return [...(this.tasks.get(labeller) ?? [])].at(-1);
  }

  /** Labellers of these tasks with their number of answers, sorted by name. */
  labellersOf(
    tasks: readonly { readonly id: string }[],
  ): { readonly name: string; readonly answers: number }[] {
    const counts = new Map<string, number>();
    for (const { id } of tasks) {
      for (const name of this.answersTo(id).keys()) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return [...counts]
      .map(([name, answers]) => ({ name, answers }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

function entryOf<V>(map: Map<string, V>, key: string, create: () => V): V {
  const value = map.get(key) ?? create();
  map.set(key, value);
  return value;
}

/** What is wrong with a choice for a task with `count` responses; undefined if it is valid. */
export function findChoiceFault(
  choice: LabelChoice,
  { kind, count }: { readonly kind: LabelTaskKind; readonly count: number },
): string | undefined {
  if (choice.kind !== kind) return `it must be of kind ${kind}, got ${choice.kind}`;
  if (choice.kind !== 'ranking') return undefined;
  const { order } = choice;
  const listed = new Set(order);
  const isComplete = Array.from({ length: count }, (_, i) => i).every((i) => listed.has(i));
  if (isComplete && order.length === count) return undefined;
  return `order must list each of the ${count} responses, 0 to ${count - 1}, once, got ${JSON.stringify(order.slice(0, 20))}`;
}
