import { type Signal, signal } from '@preact/signals';
import type { FillingQueue, LabelQueue, LiveSource } from '../../api.ts';

/** The queues of a dashboard as they change, until it is closed. */
export class QueueStore {
  /** Undefined until they have been read. */
  readonly queues: Signal<readonly LabelQueue[] | undefined> = signal(undefined);
  readonly error: Signal<string | undefined> = signal(undefined);
  /** The queue that a model is filling, if there is one. */
  readonly filling: Signal<FillingQueue | null> = signal(null);
  /** Ends it: events change it no longer. */
  readonly close: () => void;
  private readonly live: LiveSource;

  constructor(live: LiveSource) {
    this.live = live;
    this.close = live.subscribe((event) => {
      if (event.type === 'labels') this.queues.value = event.queues;
      else if (event.type === 'filling') this.filling.value = event.queue;
      // Whether it has ended meanwhile is not known.
      else if (event.type === 'lost') this.filling.value = null;
      else if (event.type === 'connected') void this.load();
    });
    void this.load();
  }

  /** Reads the queues; where that fails, those known before stay. */
  async load(): Promise<void> {
    try {
      this.queues.value = await this.live.queues();
      this.error.value = undefined;
    } catch (error) {
      this.error.value = sayError(error);
    }
  }

  /** Takes in a queue that the server has just told of. */
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

/** Queues in the order to show them: those that a run waits for, those with something left, the rest.
 *  @example a done, b open, c live  →  c, b, a */
export function sortQueues(queues: readonly LabelQueue[]): readonly LabelQueue[] {
  const rank = ({ live, answered, total }: LabelQueue) => (live ? 0 : answered < total ? 1 : 2);
  return [...queues].sort((a, b) => rank(a) - rank(b));
}

/** How many tasks of a queue someone has answered. */
export function answersOf({ labellers }: LabelQueue, labeller: string): number {
  return labellers.find(({ name }) => name === labeller)?.answers ?? 0;
}

/** An error in one line. */
export function sayError(error: unknown): string {
  const message = error instanceof Error && error.message !== '' ? error.message : String(error);
  return message.replace(/\s*\n\s*/g, ' ');
}
