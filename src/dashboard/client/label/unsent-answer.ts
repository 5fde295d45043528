import type { LabelAnswer, LabelTask } from '../../api.ts';
import type { Memory } from './labeller-name.ts';

/** An answer that has not reached the server, with its task to show it. */
export interface UnsentAnswer {
  readonly task: LabelTask;
  readonly answer: LabelAnswer;
}

/** Keeps the answer that is under way, so that it outlives a lost server and a closed page. */
export class UnsentStore {
  private readonly memory: Memory;
  private readonly key: string;

  constructor(memory: Memory, of: { readonly queue: string; readonly labeller: string }) {
    this.memory = memory;
    this.key = `proximal.unsent.${JSON.stringify([of.queue, of.labeller])}`;
  }

  keep(unsent: UnsentAnswer): void {
    this.memory.setItem(this.key, JSON.stringify(unsent));
  }

  drop(): void {
    this.memory.removeItem(this.key);
  }

  /** Undefined where nothing is kept. */
  read(): UnsentAnswer | undefined {
    const text = this.memory.getItem(this.key);
    return text === null ? undefined : (JSON.parse(text) as UnsentAnswer);
  }
}
