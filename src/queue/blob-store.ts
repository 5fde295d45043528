import type { Redis } from 'ioredis';
import { z } from 'zod';
import { hashBytes } from './blob.ts';
import { QueueError } from './redis.ts';

/** A blob by its content. */
export const blobRefSchema = z.strictObject({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.int().min(0),
});

/** The hash and length of a blob. */
export type BlobRef = Readonly<z.output<typeof blobRefSchema>>;

/** Bytes of one Redis value: a value can have at most 512 MB, and a large one blocks the server. */
const PART_BYTES = 2 ** 25;
/** Seconds after which Redis forgets a blob that nobody needs. */
const EXPIRY = 3600;
/** Largest blob that is read. */
const MAX_BYTES = 2 ** 32;

/** A blob is not in Redis, because it expired or Redis lost it. */
export class MissingBlobError extends QueueError {}

/** Blobs in Redis under the hash of their bytes, in parts, with an expiry. */
export class BlobStore {
  /** Bytes sent and received. */
  readonly traffic = { sent: 0, received: 0 };
  private readonly redis: Redis;
  /** Blobs that are being stored, by hash: jobs that start together share them. */
  private readonly pending = new Map<string, Promise<void>>();

  constructor(redis: Redis) {
    this.redis = redis;
  }

  /** Stores a blob unless it is already there. */
  async put(bytes: Buffer): Promise<BlobRef> {
    const ref = refOf(bytes);
    const known = this.pending.get(ref.sha256);
    const stored = known ?? this.store(ref, bytes);
    if (known === undefined) {
      this.pending.set(ref.sha256, stored);
      const forget = () => void this.pending.delete(ref.sha256);
      stored.then(forget, forget);
    }
    await stored;
    return ref;
  }

  private async store(ref: BlobRef, bytes: Buffer): Promise<void> {
    const keys = keysOf(ref);
    if ((await this.touch(ref)) === keys.length) return;
    for (const [part, key] of keys.entries()) {
      const value = bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES);
      await this.redis.set(key, value, 'EX', EXPIRY);
    }
    this.traffic.sent += ref.bytes;
  }

  /** Reads a blob and checks its hash. */
  async get(ref: BlobRef): Promise<Buffer> {
    if (ref.bytes > MAX_BYTES) {
      throw new QueueError(
        `Cannot read blob ${ref.sha256}: it must have at most ${MAX_BYTES} bytes, got ${ref.bytes}`,
      );
    }
    const parts: Buffer[] = [];
    for (const key of keysOf(ref)) {
      const part = await this.redis.getBuffer(key);
      if (part === null) {
        throw new MissingBlobError(`Cannot read blob ${ref.sha256}: it is not in Redis any more`);
      }
      parts.push(part);
    }
    const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    if (bytes.byteLength !== ref.bytes || hashBytes(bytes) !== ref.sha256) {
      throw new QueueError(`Cannot read blob ${ref.sha256}: its bytes have another hash`);
    }
    this.traffic.received += ref.bytes;
    return bytes;
  }

  /** Whether all parts of a blob are there; delays its expiry. */
  async has(ref: BlobRef): Promise<boolean> {
    return (await this.touch(ref)) === keysOf(ref).length;
  }

  async remove(ref: BlobRef): Promise<void> {
    await this.redis.unlink(...keysOf(ref));
  }

  /** Delays the expiry; returns how many parts exist. */
  private async touch(ref: BlobRef): Promise<number> {
    const found = await Promise.all(keysOf(ref).map((key) => this.redis.expire(key, EXPIRY)));
    return found.reduce((sum, one) => sum + one, 0);
  }
}

/** The hash of a buffer is computed once: jobs that start together share buffers. */
const refs = new WeakMap<Buffer, BlobRef>();

/** The hash and length of some bytes, which must not change. */
export function refOf(bytes: Buffer): BlobRef {
  const ref = refs.get(bytes) ?? { sha256: hashBytes(bytes), bytes: bytes.byteLength };
  refs.set(bytes, ref);
  return ref;
}

function keysOf({ sha256, bytes }: BlobRef): string[] {
  const parts = Math.max(1, Math.ceil(bytes / PART_BYTES));
  return Array.from({ length: parts }, (_, part) => `proximal:blob:${sha256}:${part}`);
}
