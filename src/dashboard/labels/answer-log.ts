import { appendJsonLines, explainSystemError, JsonlTail } from '../../fs/index.ts';
import type { LabelTaskKind } from '../api.ts';
import { AnswerBook } from './answer-book.ts';
import { findChoiceFault } from './check-choice.ts';
import { type AnswerRow, answerRowSchema, type StoredTask } from './queue-schema.ts';

/** The answers of a queue on the disk. Other processes may write too: each reading sees what they
 *  have written. Lines that answer nothing here, as half ones of a crash, are passed over. */
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
      throw explainSystemError(error, { action: `write ${this.path}`, next: 'try again' });
    }
  }

  private add(bytes: Buffer): boolean {
    const row = parse(bytes);
    const isGood = row !== undefined && this.fits(row);
    if (isGood) this.book.apply(row);
    return isGood;
  }

  private fits(row: AnswerRow): boolean {
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
