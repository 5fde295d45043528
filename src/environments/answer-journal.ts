import { Sha256 } from '../engine/hash/index.ts';
import type { EnvironmentAnswer } from './environment.ts';

/** The turn that an answer belongs to. */
export interface AnswerKey {
  /** What the prompts' numbers belong to, such as the training step. */
  readonly scope: readonly (string | number)[];
  readonly prompt: number;
  readonly sample: number;
  readonly turn: number;
  /** The whole conversation up to the turn, as text. */
  readonly text: string;
}

/** Remembers the answers of an environment, so that a resumed run sees the same ones. */
export interface AnswerJournal {
  /** The recorded answer to this turn of the same conversation. */
  find(key: AnswerKey): EnvironmentAnswer | undefined;
  /** Records an answer before it is used. */
  add(key: AnswerKey, answer: EnvironmentAnswer): void;
}

/** A row of a journal. */
export interface AnswerRow {
  readonly scope: readonly (string | number)[];
  readonly prompt: number;
  readonly sample: number;
  readonly turn: number;
  /** SHA-256 of the conversation. */
  readonly sha256: string;
  readonly answer: EnvironmentAnswer;
}

/** A journal over rows that are stored elsewhere.
 *  @param write stores a row; the answer is used once it returns */
export class RowJournal implements AnswerJournal {
  private readonly answers = new Map<string, EnvironmentAnswer>();
  private readonly write: (row: AnswerRow) => void;

  constructor(rows: Iterable<AnswerRow>, write: (row: AnswerRow) => void) {
    for (const row of rows) this.answers.set(nameOf(row), row.answer);
    this.write = write;
  }

  find(key: AnswerKey): EnvironmentAnswer | undefined {
    return this.answers.get(nameOf(toRow(key)));
  }

  add(key: AnswerKey, answer: EnvironmentAnswer): void {
    // Not kept in memory: a turn is answered once per process.
    this.write({ ...toRow(key), answer });
  }
}

function toRow({ text, scope, prompt, sample, turn }: AnswerKey): Omit<AnswerRow, 'answer'> {
  const sha256 = new Sha256().update(text).hex();
  return { scope, prompt, sample, turn, sha256 };
}

function nameOf({ scope, prompt, sample, turn, sha256 }: Omit<AnswerRow, 'answer'>): string {
  return JSON.stringify([scope, prompt, sample, turn, sha256]);
}
