import type { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RedisProcess } from '../../bench/redis-process.ts';
import { BlobStore, MissingBlobError } from '../../src/queue/blob-store.ts';
import { connectTo, describeWithRedis, startRedis } from '../helpers/redis-server.ts';

describeWithRedis('blobs in Redis', () => {
  let server: RedisProcess;
  let redis: Redis;

  beforeAll(async () => {
    server = await startRedis();
    redis = connectTo(server);
  });

  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  it('are stored in parts, once, with an expiry, and counted', async () => {
    const store = new BlobStore(redis);
    const bytes = Buffer.alloc(2 ** 25 + 7, 'proximal');
    const ref = await store.put(bytes);
    expect((await store.get(ref)).equals(bytes)).toBe(true);
    await store.put(bytes);
    expect(store.traffic).toEqual({ sent: bytes.length, received: bytes.length });
    const keys = await redis.keys('proximal:blob:*');
    expect(keys).toHaveLength(2);
    for (const key of keys) expect(await redis.ttl(key)).toBeGreaterThan(3000);
    await store.remove(ref);
    expect(await redis.dbsize()).toBe(0);
  });

  it('are sent again if a part is missing', async () => {
    const store = new BlobStore(redis);
    const ref = await store.put(Buffer.from('abc'));
    expect(await store.has(ref)).toBe(true);
    await redis.flushall();
    expect(await store.has(ref)).toBe(false);
    await expect(store.get(ref)).rejects.toThrow(MissingBlobError);
    await store.put(Buffer.from('abc'));
    expect((await store.get(ref)).toString()).toBe('abc');
  });

  it('are rejected if someone else wrote other bytes, or promises too many', async () => {
    const store = new BlobStore(redis);
    const ref = await store.put(Buffer.from('abc'));
    await redis.set(`proximal:blob:${ref.sha256}:0`, 'abd');
    await expect(store.get(ref)).rejects.toThrow('its bytes have another hash');
    await expect(store.get({ ...ref, bytes: 2 ** 33 })).rejects.toThrow('must have at most');
  });
});
