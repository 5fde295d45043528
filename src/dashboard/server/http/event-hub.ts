import type { DashboardEvent } from '../../api.ts';

/** Largest backlog of one client in bytes. A slower client is disconnected; it reconnects and loads
 *  what it needs. */
const MAX_BACKLOG = 1 << 20;
/** Milliseconds between two heartbeats, without which proxies close a stream. */
const HEARTBEAT = 15_000;

export interface EventHubOptions {
  /** Called when the first client connects and when the last one leaves. */
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

  /** A stream of server-sent events that starts with the given ones. */
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
      new ByteLengthQueuingStrategy({ highWaterMark: MAX_BACKLOG }),
    );
  }

  /** Sends events to all clients. */
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
    const wasConnected = this.clients.delete(client);
    if (wasConnected && this.clients.size === 0) {
      clearInterval(this.timer);
      this.onWatched(false);
    }
    return wasConnected;
  }
}

/** JSON contains no line feeds, which would end an event. */
function format(event: DashboardEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
