/** Remainders of each byte by Castagnoli's polynomial, bits reversed. */
const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  return crc;
});

/** CRC-32C as iSCSI defines it (RFC 3720).
 *  @example "123456789"  →  0xe3069283 */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ table[(crc ^ byte) & 0xff]!;
  return ~crc >>> 0;
}
