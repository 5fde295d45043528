import { type Signal, signal } from '@preact/signals';
import type { FillingQueue, LabelQueue, LiveSource } from '../../api.ts';

/** The queues of the dashboard, updated by events until it is closed. */
export class QueueStore {
  /** Undefined until loaded. */
  readonly queues: Signal<readonly LabelQueue[] | undefined> = signal(undefined);
  readonly error: Signal<string | undefined> = signal(undefined);
  /** The queue that a model is filling, if there is one. */
  readonly filling: Signal<FillingQueue | null> = signal(null);
  /** Stops updating. */
  readonly close: () => void;
  private readonly live: LiveSource;

  constructor(live: LiveSource) {
    this.live = live;
    this.close = live.subscribe((event) => {
      if (event.type === 'labels') this.queues.value = event.queues;
      else if (event.type === 'filling') this.filling.value = event.queue;
      // It may have ended meanwhile.
      else if (event.type === 'lost') this.filling.value = null;
      else if (event.type === 'connected') void this.load();
    });
    void this.load();
  }

  /** Loads the queues; if that fails, the known ones stay. */
  async load(): Promise<void> {
    try {
      this.queues.value = await this.live.queues();
      this.error.value = undefined;
    } catch (error) {
      this.error.value = formatError(error);
    }
  }

  /** Adds or updates a queue. */
  put(queue: LabelQueue): void {
    const others = this.queues.value ?? [];
    const isKnown = others.some(({ id }) => id === queue.id);
    this.queues.value = isKnown
      ? others.map((other) => (other.id === queue.id ? queue : other))
      : [...others, queue];
  }

  find(id: string): LabelQueue | undefined {
    return this.queues.value?.find((queue) => queue.id === id);
  }
}

/** Sorts queues: first those that a run waits for, then those with open tasks, then the rest.
 *  @example a done, b open, c live  →  c, b, a */
export function sortQueues(queues: readonly LabelQueue[]): readonly LabelQueue[] {
  const rank = ({ live, answered, total }: LabelQueue) => (live ? 0 : answered < total ? 1 : 2);
  return [...queues].sort((a, b) => rank(a) - rank(b));
}

/** Number of tasks that a labeller has answered. */
export function answersOf({ labellers }: LabelQueue, labeller: string): number {
  return labellers.find(({ name }) => name === labeller)?.answers ?? 0;
}

/** An error message on one line. */
export function formatError(error: unknown): string {
  const message = error instanceof Error && error.message !== '' ? error.message : String(error);
  return message.replace(/\s*\n\s*/g, ' ');
}
