import { batch, type Signal, signal } from '@preact/signals';
import type { LabelAnswer, LabelChoice, LabelTask, LiveSource } from '../../api.ts';
import type { Memory } from './labeller-form.tsx';
import { answersOf, type QueueStore, sayError } from './queue-store.ts';
import { noOrder, type RankingOrder } from './ranking-order.ts';

/** `unsent`: an answer did not arrive and is kept; `failed`: no task could be fetched; `done`: this
 *  labeller has answered all there is. */
export type SessionState = 'loading' | 'ready' | 'sending' | 'unsent' | 'failed' | 'done';

export interface LabelSessionOptions {
  readonly live: LiveSource;
  readonly store: QueueStore;
  /** The queue's id. */
  readonly queue: string;
  readonly labeller: string;
  readonly memory: Memory;
}

/** One person's way through a queue: a task at a time, answered, sent, undone. */
export class LabelSession {
  readonly state: Signal<SessionState> = signal('loading');
  /** What is shown; the last one stays while the next is fetched. */
  readonly task: Signal<LabelTask | undefined> = signal(undefined);
  /** What was answered while it is sent or kept. */
  readonly chosen: Signal<LabelChoice | undefined> = signal(undefined);
  readonly note: Signal<string> = signal('');
  readonly order: Signal<RankingOrder> = signal(noOrder(0));
  readonly error: Signal<string | undefined> = signal(undefined);
  /** For those who listen to the page. */
  readonly announcement: Signal<string> = signal('');
  private readonly options: LabelSessionOptions;
  private readonly unsent: UnsentStore;
  /** Notes of sent answers by task, for when they are undone. */
  private readonly notes = new Map<string, string>();
  private isLooking = false;

  constructor(options: LabelSessionOptions) {
    this.options = options;
    this.unsent = new UnsentStore(options.memory, options);
  }

  /** Shows the first task; an answer that an earlier visit could not send goes first. */
  async start(): Promise<void> {
    const kept = this.unsent.read();
    if (kept === undefined) return this.fetchNext();
    this.show(kept.task, contentOf(kept));
    await this.send(kept);
  }

  /** Sends an answer to the task that is shown, then shows the next. */
  async answer(choice: LabelChoice): Promise<void> {
    const task = this.task.value;
    if (this.state.value !== 'ready' || task === undefined) return;
    const { labeller } = this.options;
    const note = this.note.value.trim();
    const answer = { task: task.id, labeller, answer: choice, ...(note !== '' && { note }) };
    await this.send({ task, answer });
  }

  /** Tries again what failed: to send the kept answer, or to fetch a task. */
  async retry(): Promise<void> {
    const kept = this.unsent.read();
    if (this.state.value === 'unsent' && kept !== undefined) await this.send(kept);
    else if (this.state.value === 'failed') await this.fetchNext();
  }

  /** Gives up the kept answer, such as one to a task that is gone, and goes on. */
  async drop(): Promise<void> {
    if (this.state.value !== 'unsent') return;
    this.unsent.drop();
    await this.fetchNext();
  }

  /** Opens the last answered task again; an answer that was never sent is just taken back. */
  async undo(): Promise<void> {
    const state = this.state.value;
    const kept = this.unsent.read();
    if (state === 'unsent' && kept !== undefined) {
      this.unsent.drop();
      this.reopen(kept.task, contentOf(kept));
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

  /** There may be new tasks: looks for one where all were answered. */
  async lookAgain(): Promise<void> {
    if (this.state.value !== 'done' || this.isLooking) return;
    this.isLooking = true;
    const { live, queue, labeller } = this.options;
    // A failure shows nothing: the page is as it was, and the next event looks again.
    const task = await live.nextTask(queue, labeller).catch(() => undefined);
    this.isLooking = false;
    if (task !== undefined && this.state.value === 'done') this.showNext(task);
  }

  private async send(unsent: UnsentAnswer): Promise<void> {
    const { live, store, queue } = this.options;
    const { task, answer } = unsent;
    this.unsent.keep(unsent);
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
    this.unsent.drop();
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
        this.announcement.value = `Nothing is left to answer. ${progress}`;
      } else {
        this.show(task);
        this.announcement.value = `Next task. ${progress}`;
      }
    });
  }

  private reopen(task: LabelTask, content: Content): void {
    this.show(task, content);
    this.announcement.value = 'Undone. Answer this task again.';
  }

  private show(task: LabelTask | undefined, { note = '', places = [] }: Content = {}): void {
    batch(() => {
      this.task.value = task;
      this.order.value = { count: task?.responses.length ?? 0, places };
      this.note.value = note;
      this.chosen.value = undefined;
      this.error.value = undefined;
      this.state.value = 'ready';
    });
  }

  private fail(state: SessionState, error: unknown): void {
    batch(() => {
      this.state.value = state;
      this.error.value = sayError(error);
    });
  }
}

/** What a person has put into a task so far. */
interface Content {
  readonly note?: string;
  readonly places?: readonly number[];
}

function contentOf({ answer: { note = '', answer } }: UnsentAnswer): Content {
  return answer.kind === 'ranking' ? { note, places: answer.order } : { note };
}

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
