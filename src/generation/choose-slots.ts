import type { DecoderConfig } from '../models/decoder/decoder-config.ts';
import { cacheBytes } from './kv-cache.ts';

/** Twice as many make a token cheaper by less than a fifth (docs/performance.md). */
const MOST_SLOTS = 32;
/** Bytes of keys and values. */
const CACHE_LIMIT = 2 ** 30;

/** Texts to generate at once where nobody says: as many as make a token cheaper and fit the cache.
 *  @param length tokens of the longest prompt and response */
export function chooseSlots(config: DecoderConfig, length: number): number {
  const fitting = Math.floor(CACHE_LIMIT / cacheBytes(config, { slots: 1, length }));
  return Math.max(1, Math.min(MOST_SLOTS, fitting));
}
