import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Whether `redis-server` is on the path. */
export function hasRedis(): boolean {
  return spawnSync('redis-server', ['--version']).status === 0;
}

/** A Redis server of its own, on a free port of this machine, with its files in a temporary folder. */
export class RedisProcess {
  readonly port: number;
  private readonly folder: string;
  private readonly args: readonly string[];
  private child: ChildProcess | undefined;

  private constructor(args: readonly string[], place: { port: number; folder: string }) {
    this.args = args;
    this.port = place.port;
    this.folder = place.folder;
  }

  /** Starts a server and waits until it accepts connections.
   *  @param args further arguments of redis-server */
  static async start(args: readonly string[] = []): Promise<RedisProcess> {
    if (!hasRedis()) {
      throw new Error(
        'Cannot start Redis: redis-server must be on the path, got none; install Redis 6.2 or newer',
      );
    }
    const folder = mkdtempSync(join(tmpdir(), 'proximal-redis-'));
    const redis = new RedisProcess(args, { port: await findFreePort(), folder });
    await redis.restart();
    return redis;
  }

  /** @param db number of the database */
  url(db = 0): string {
    return `redis://127.0.0.1:${this.port}/${db}`;
  }

  get processId(): number {
    return this.child!.pid!;
  }

  /** Starts the server again with the data of its folder. */
  async restart(): Promise<void> {
    await this.halt();
    const place = ['--bind', '127.0.0.1', '--port', String(this.port), '--dir', this.folder];
    const child = spawn('redis-server', [...place, '--save', '', ...this.args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.child = child;
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.includes('Ready to accept connections')) break;
    }
    child.stdout.resume();
    if (child.exitCode === null) return;
    rmSync(this.folder, { recursive: true, force: true });
    throw new Error(`Cannot start Redis: it must stay alive, got exit code ${child.exitCode}`);
  }

  /** Ends the server and keeps its data. */
  async halt(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  /** Ends the server and deletes its data. */
  async stop(): Promise<void> {
    await this.halt();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
