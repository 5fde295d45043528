import { Redis } from 'ioredis';
import { withoutPassword } from '../http/index.ts';
import { PASSWORD_VARIABLE, withPassword } from './queue-url.ts';

/** Redis answered with an error, or not at all. The message is one sentence. */
export class QueueError extends Error {
  override readonly name = 'QueueError';
}

const MIN_VERSION = [6, 2] as const;
/** Milliseconds until a first connection counts as impossible. */
const CONNECT_TIMEOUT = 5000;
/** A client for BullMQ and blobs: it reconnects by itself, and commands wait for that. */
export function createClient(url: string): Redis {
  const client = new Redis(withPassword(url), {
    maxRetriesPerRequest: null,
    retryStrategy: (attempt) => Math.min(100 * 2 ** attempt, 2000),
    enableReadyCheck: true,
  });
  // Without a listener an error would end the process; commands wait or fail by themselves.
  client.on('error', () => {});
  return client;
}

/** Connects once and checks password and version. Returns the version.
 *  @throws QueueError */
export async function checkRedis(url: string): Promise<string> {
  const client = new Redis(withPassword(url), {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    connectTimeout: CONNECT_TIMEOUT,
  });
  let cause: Error | undefined;
  client.on('error', (error) => {
    cause ??= error;
  });
  try {
    await client.connect();
    const info = await client.info('server');
    const version = /^redis_version:(\S+)/m.exec(info)?.[1] ?? '0';
    const [major = 0, minor = 0] = version.split('.').map(Number);
    if (major < MIN_VERSION[0] || (major === MIN_VERSION[0] && minor < MIN_VERSION[1])) {
      throw new QueueError(
        `Cannot use the queue ${withoutPassword(url)}: Redis must be ${MIN_VERSION.join('.')} or newer, got ${version}; upgrade it`,
      );
    }
    return version;
  } catch (error) {
    if (error instanceof QueueError) throw error;
    throw new QueueError(describeFailure(url, cause ?? (error as Error)));
  } finally {
    client.disconnect();
  }
}

function describeFailure(url: string, { message }: Error): string {
  const start = `Cannot use the queue ${withoutPassword(url)}:`;
  if (/WRONGPASS|NOAUTH|invalid password/i.test(message)) {
    return `${start} Redis must accept the password, got "${message}"; put it into the URL or into ${PASSWORD_VARIABLE}`;
  }
  return `${start} Redis must answer, got "${message}"; check host and port, and that the server is running`;
}

/** Explains an error of a Redis command.
 *  @param action what could not be done, such as `send a job` */
export function explainRedisError(
  error: unknown,
  { url, action }: { url: string; action: string },
): Error {
  const message = error instanceof Error ? error.message : String(error);
  if (!/^OOM|maxmemory/.test(message)) {
    return new QueueError(`Cannot ${action} through ${withoutPassword(url)}: ${message}`);
  }
  return new QueueError(
    `Cannot ${action} through ${withoutPassword(url)}: Redis must have room for it, got "${message}"; raise maxmemory, and keep maxmemory-policy noeviction`,
  );
}

/** Whether a command failed only because Redis is stopping or starting. */
export function isTransient(error: unknown): boolean {
  const message = error instanceof Error ? error.message : String(error);
  return /LOADING|MASTERDOWN|READONLY|TRYAGAIN|Connection is closed|ECONN|EPIPE/.test(message);
}
