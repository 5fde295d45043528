import type { AnswerRow, StoredAnswer } from './queue-schema.ts';

const none: ReadonlyMap<string, StoredAnswer> = new Map();

/** Who answered what, as the rows of `answers.jsonl` tell it from first to last. */
export class AnswerBook {
  /** By task, then by labeller. */
  private readonly answers = new Map<string, Map<string, StoredAnswer>>();
  /** The tasks of each labeller, the last answered last. */
  private readonly tasks = new Map<string, Set<string>>();

  /** A second answer to the same task takes the place of the first. */
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

  /** The answers to a task by labeller, the last given last. */
  answersTo(task: string): ReadonlyMap<string, StoredAnswer> {
    return this.answers.get(task) ?? none;
  }

  lastTaskOf(labeller: string): string | undefined {
    return [...(this.tasks.get(labeller) ?? [])].at(-1);
  }

  /** Those who answered some of these tasks, and how many of them, by name. */
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

function entryOf<V>(map: Map<string, V>, key: string, make: () => V): V {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}
