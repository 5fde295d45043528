import { batch, type Signal, signal } from '@preact/signals';
import type { LabelAnswer, LabelChoice, LabelTask, LiveSource } from '../../api.ts';
import type { Memory } from './labeller-form.tsx';
import { answersOf, formatError, type QueueStore } from './queue-store.ts';
import { noOrder, type RankingOrder } from './ranking-order.ts';

/** `unsent`: an answer could not be sent and is saved; `failed`: no task could be loaded; `done`: this
 *  labeller has answered every task. */
export type SessionState = 'loading' | 'ready' | 'sending' | 'unsent' | 'failed' | 'done';

export interface LabelSessionOptions {
  readonly live: LiveSource;
  readonly store: QueueStore;
  /** Id of the queue. */
  readonly queue: string;
  readonly labeller: string;
  readonly memory: Memory;
}

/** One person's session with a queue: shows a task at a time, sends answers, undoes them. */
export class LabelSession {
  readonly state: Signal<SessionState> = signal('loading');
  /** The shown task; it stays while the next one is loaded. */
  readonly task: Signal<LabelTask | undefined> = signal(undefined);
  /** The answer while it is being sent or is unsent. */
  readonly chosen: Signal<LabelChoice | undefined> = signal(undefined);
  readonly note: Signal<string> = signal('');
  readonly order: Signal<RankingOrder> = signal(noOrder(0));
  readonly error: Signal<string | undefined> = signal(undefined);
  /** Text for screen readers. */
  readonly announcement: Signal<string> = signal('');
  private readonly options: LabelSessionOptions;
  private readonly unsent: UnsentStore;
  /** Notes of sent answers by task, restored by undo. */
  private readonly notes = new Map<string, string>();
  private isChecking = false;

  constructor(options: LabelSessionOptions) {
    this.options = options;
    this.unsent = new UnsentStore(options.memory, options);
  }

  /** Shows the first task; first sends an answer that an earlier visit could not send. */
  async start(): Promise<void> {
    const unsent = this.unsent.read();
    if (unsent === undefined) return this.fetchNext();
    this.show(unsent.task, inputOf(unsent));
    await this.send(unsent);
  }

  /** Sends an answer to the shown task, then shows the next one. */
  async answer(choice: LabelChoice): Promise<void> {
    const task = this.task.value;
    if (this.state.value !== 'ready' || task === undefined) return;
    const { labeller } = this.options;
    const note = this.note.value.trim();
    const answer = { task: task.id, labeller, answer: choice, ...(note !== '' && { note }) };
    await this.send({ task, answer });
  }

  /** Retries what failed: sending the unsent answer or loading a task. */
  async retry(): Promise<void> {
    const unsent = this.unsent.read();
    if (this.state.value === 'unsent' && unsent !== undefined) await this.send(unsent);
    else if (this.state.value === 'failed') await this.fetchNext();
  }

  /** Discards the unsent answer, such as one to a deleted task, and continues. */
  async discard(): Promise<void> {
    if (this.state.value !== 'unsent') return;
    this.unsent.discard();
    await this.fetchNext();
  }

  /** Reopens the last answered task; an unsent answer is just withdrawn. */
  async undo(): Promise<void> {
    const state = this.state.value;
    const unsent = this.unsent.read();
    if (state === 'unsent' && unsent !== undefined) {
      this.unsent.discard();
      this.reopen(unsent.task, inputOf(unsent));
    }
    if (state !== 'ready' && state !== 'done') return;
    const { live, queue, labeller, store } = this.options;
    this.state.value = 'loading';
    try {
      const task = await live.undo(queue, labeller);
      this.reopen(task, { note: this.notes.get(task.id) ?? '' });
      void store.load();
    } catch (error) {
      this.fail(state, error);
    }
  }

  /** Checks for new tasks if all were answered. */
  async checkForTasks(): Promise<void> {
    if (this.state.value !== 'done' || this.isChecking) return;
    this.isChecking = true;
    const { live, queue, labeller } = this.options;
    // A failure is not shown: the next event triggers another check.
    const task = await live.nextTask(queue, labeller).catch(() => undefined);
    this.isChecking = false;
    if (task !== undefined && this.state.value === 'done') this.showNext(task);
  }

  private async send(unsent: UnsentAnswer): Promise<void> {
    const { live, store, queue } = this.options;
    const { task, answer } = unsent;
    this.unsent.save(unsent);
    batch(() => {
      this.state.value = 'sending';
      this.chosen.value = answer.answer;
      this.error.value = undefined;
    });
    try {
      store.put(await live.answer(queue, answer));
    } catch (error) {
      return this.fail('unsent', error);
    }
    this.unsent.discard();
    this.notes.set(task.id, answer.note ?? '');
    await this.fetchNext();
  }

  private async fetchNext(): Promise<void> {
    const { live, queue, labeller } = this.options;
    if (this.state.value !== 'sending') this.state.value = 'loading';
    try {
      this.showNext(await live.nextTask(queue, labeller));
    } catch (error) {
      this.fail('failed', error);
    }
  }

  private showNext(task: LabelTask | undefined): void {
    const { store, queue: id, labeller } = this.options;
    const queue = store.find(id);
    const progress =
      queue === undefined ? '' : `${answersOf(queue, labeller)} of ${queue.total} answered.`;
    batch(() => {
      if (task === undefined) {
        this.show(undefined);
        this.state.value = 'done';
        this.announcement.value = `All tasks are answered. ${progress}`;
      } else {
        this.show(task);
        this.announcement.value = `Next task. ${progress}`;
      }
    });
  }

  private reopen(task: LabelTask, content: TaskInput): void {
    this.show(task, content);
    this.announcement.value = 'Undone. Answer this task again.';
  }

  private show(task: LabelTask | undefined, { note = '', responses = [] }: TaskInput = {}): void {
    batch(() => {
      this.task.value = task;
      this.order.value = { count: task?.responses.length ?? 0, responses };
      this.note.value = note;
      this.chosen.value = undefined;
      this.error.value = undefined;
      this.state.value = 'ready';
    });
  }

  private fail(state: SessionState, error: unknown): void {
    batch(() => {
      this.state.value = state;
      this.error.value = formatError(error);
    });
  }
}

/** What the labeller has entered for a task. */
interface TaskInput {
  readonly note?: string;
  readonly responses?: readonly number[];
}

function inputOf({ answer: { note = '', answer } }: UnsentAnswer): TaskInput {
  return answer.kind === 'ranking' ? { note, responses: answer.order } : { note };
}

/** An answer that has not reached the server, with its task. */
export interface UnsentAnswer {
  readonly task: LabelTask;
  readonly answer: LabelAnswer;
}

/** Saves the answer that is being sent, so that it survives a lost connection and a closed page. */
export class UnsentStore {
  private readonly memory: Memory;
  private readonly key: string;

  constructor(memory: Memory, owner: { readonly queue: string; readonly labeller: string }) {
    this.memory = memory;
    this.key = `proximal.unsent.${JSON.stringify([owner.queue, owner.labeller])}`;
  }

  save(unsent: UnsentAnswer): void {
    this.memory.setItem(this.key, JSON.stringify(unsent));
  }

  discard(): void {
    this.memory.removeItem(this.key);
  }

  /** Undefined if nothing is saved. */
  read(): UnsentAnswer | undefined {
    const text = this.memory.getItem(this.key);
    return text === null ? undefined : (JSON.parse(text) as UnsentAnswer);
  }
}
