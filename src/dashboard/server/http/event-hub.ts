import type { DashboardEvent } from '../../api.ts';

/** Bytes that may wait for one client. Above that its stream ends after them: it connects again and
 *  loads what it needs. */
const MOST_WAITING = 1 << 20;
/** Milliseconds between two signs of life, without which proxies give a stream up. */
const HEARTBEAT = 15_000;

export interface EventHubOptions {
  /** The first client has come, or the last one has gone. */
  readonly onWatched: (isWatched: boolean) => void;
  readonly heartbeat?: number;
}

type Client = ReadableStreamDefaultController<Uint8Array>;

/** Sends events to every open stream. */
export class EventHub {
  private readonly clients = new Set<Client>();
  private readonly onWatched: EventHubOptions['onWatched'];
  private readonly heartbeat: number;
  private timer: NodeJS.Timeout | undefined;

  constructor({ onWatched, heartbeat = HEARTBEAT }: EventHubOptions) {
    this.onWatched = onWatched;
    this.heartbeat = heartbeat;
  }

  get size(): number {
    return this.clients.size;
  }

  /** A stream in the form of server-sent events, which begins with some. */
  open(first: readonly DashboardEvent[]): ReadableStream<Uint8Array> {
    let client: Client;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          client = controller;
          this.add(client);
          this.send(client, encode(`retry: 1000\n\n${first.map(format).join('')}`));
        },
        cancel: () => {
          this.remove(client);
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MOST_WAITING }),
    );
  }

  /** Sends events to all, at once. */
  publish(...events: readonly DashboardEvent[]): void {
    if (this.clients.size > 0) this.sendAll(events.map(format).join(''));
  }

  /** Ends every stream. */
  close(): void {
    for (const client of [...this.clients]) this.end(client);
  }

  private sendAll(text: string): void {
    const bytes = encode(text);
    for (const client of [...this.clients]) this.send(client, bytes);
  }

  private send(client: Client, bytes: Uint8Array): void {
    if ((client.desiredSize ?? 0) <= 0) this.end(client);
    else client.enqueue(bytes);
  }

  private add(client: Client): void {
    this.clients.add(client);
    if (this.clients.size > 1) return;
    this.timer = setInterval(() => this.sendAll(': alive\n\n'), this.heartbeat).unref();
    this.onWatched(true);
  }

  private end(client: Client): void {
    if (this.remove(client)) client.close();
  }

  private remove(client: Client): boolean {
    const wasThere = this.clients.delete(client);
    if (wasThere && this.clients.size === 0) {
      clearInterval(this.timer);
      this.onWatched(false);
    }
    return wasThere;
  }
}

/** JSON has no line feeds, which would end an event. */
function format(event: DashboardEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
