import type { DashboardEvent } from '../api.ts';

type FeedEvent = DashboardEvent | { readonly type: 'connected' | 'lost' };
type Listener = (event: FeedEvent) => void;

/** How long to wait before asking again, in milliseconds: soon at first, then every five seconds. */
const delays = [500, 1000, 2000, 5000];

/** One stream of events for all who listen, open while somebody does. It comes back by itself, also
 *  where the browser's own way gives up: after an answer that is an error. */
export class EventFeed {
  private readonly url: string;
  private readonly listeners = new Set<Listener>();
  private stream: EventSource | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private isOpen = false;

  constructor(url: string) {
    this.url = url;
  }

  /** Returns what ends the subscription. */
  subscribe(listener: Listener): () => void {
    // The same function may listen twice.
    const own: Listener = (event) => listener(event);
    this.listeners.add(own);
    if (this.listeners.size === 1) this.open();
    else if (this.isOpen) own({ type: 'connected' });
    return () => {
      if (this.listeners.delete(own) && this.listeners.size === 0) this.close();
    };
  }

  private open(): void {
    const stream = new EventSource(this.url);
    this.stream = stream;
    stream.onopen = () => {
      this.isOpen = true;
      this.failures = 0;
      this.tell({ type: 'connected' });
    };
    stream.onmessage = ({ data }) => this.tell(JSON.parse(data as string) as DashboardEvent);
    stream.onerror = () => {
      stream.close();
      this.isOpen = false;
      const delay = delays[Math.min(this.failures++, delays.length - 1)]!;
      this.tell({ type: 'lost' });
      this.timer = setTimeout(() => this.open(), delay);
    };
  }

  private close(): void {
    this.stream?.close();
    clearTimeout(this.timer);
    this.isOpen = false;
    this.failures = 0;
  }

  private tell(event: FeedEvent): void {
    for (const listener of [...this.listeners]) listener(event);
  }
}
