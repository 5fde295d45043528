import { crc32c } from './crc32c.ts';

/** Frames bytes as a TFRecord: u64 length, its checksum, the bytes, their checksum; little-endian.
 *  A checksum is masked: crc rotated right by 15 bits, plus 0xa282ead8, modulo 2³².
 *  @example "a" (crc 0xc1d04330)  →  length 1 in 8 bytes, 4 bytes, 0x61, 0x28e46e78 in 4 bytes */
export function frameRecord(data: Uint8Array): Uint8Array {
  const record = new Uint8Array(8 + 4 + data.length + 4);
  const view = new DataView(record.buffer);
  view.setBigUint64(0, BigInt(data.length), true);
  view.setUint32(8, maskedCrc(record.subarray(0, 8)), true);
  record.set(data, 12);
  view.setUint32(12 + data.length, maskedCrc(data), true);
  return record;
}

function maskedCrc(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
