import { describe, expect, test } from 'vitest';
import { crc32c } from './crc32c.ts';

describe('crc32c()', () => {
  test("crc32c() gives RFC 3720's check values", () => {
    const bytes = (of: (i: number) => number) => Uint8Array.from({ length: 32 }, (_, i) => of(i));
    expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
    expect(crc32c(bytes(() => 0))).toBe(0x8a9136aa);
    expect(crc32c(bytes(() => 0xff))).toBe(0x62a8ab43);
    expect(crc32c(bytes((i) => i))).toBe(0x46dd794e);
    expect(crc32c(bytes((i) => 31 - i))).toBe(0x113fdb5c);
    expect(crc32c(new Uint8Array())).toBe(0);
  });
});
