import { Redis } from 'ioredis';
import { describe } from 'vitest';
import { hasRedis, RedisProcess } from '../../bench/redis-process.ts';

/** Tests that need `redis-server`. They are skipped with a message where it is missing. */
export const describeWithRedis: typeof describe.skip = hasRedis()
  ? describe
  : (Object.assign(
      (name: string, run: () => void) => describe.skip(`${name} (needs redis-server)`, run),
      describe.skip,
    ) as typeof describe.skip);

/** A real Redis that keeps its data, so that it can be restarted.
 *  @param settings further arguments of redis-server */
export function startRedis(...settings: readonly string[]): Promise<RedisProcess> {
  return RedisProcess.start(['--appendonly', 'yes', ...settings]);
}

/** A client that the caller disconnects. */
export function connectTo(redis: RedisProcess): Redis {
  return new Redis(redis.url());
}
