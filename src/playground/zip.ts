/** A ZIP archive of a few small files, without compression: the weights of an adapter hardly shrink. */
export function zipFiles(files: Readonly<Record<string, Uint8Array>>): Uint8Array<ArrayBuffer> {
  const entries: Entry[] = [];
  let offset = 0;
  for (const [name, data] of Object.entries(files)) {
    const entry = { name: new TextEncoder().encode(name), data, crc: crc32(data), offset };
    entries.push(entry);
    offset += LOCAL_BYTES + entry.name.length + data.length;
  }
  const directory = entries.reduce((sum, { name }) => sum + CENTRAL_BYTES + name.length, 0);
  const out = new ZipWriter(offset + directory + END_BYTES);
  for (const entry of entries) {
    out.header(0x04034b50, entry, { isCentral: false });
    out.bytes(entry.name);
    out.bytes(entry.data);
  }
  for (const entry of entries) {
    out.header(0x02014b50, entry, { isCentral: true });
    out.bytes(entry.name);
  }
  out.numbers32(0x06054b50, 0);
  out.numbers16(entries.length, entries.length);
  out.numbers32(directory, offset);
  out.numbers16(0);
  return out.result;
}

/** Sizes of the fixed parts (PKWARE APPNOTE 4.3.7, 4.3.12, 4.3.16). */
const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;

/** Version 2.0 of the format. */
const VERSION = 20;
/** Names are UTF-8. */
const FLAGS = 0x0800;
/** 1 January 1980: the same files give the same archive. */
const DATE = 0x0021;

interface Entry {
  readonly name: Uint8Array;
  readonly data: Uint8Array;
  readonly crc: number;
  /** Position of its local header. */
  readonly offset: number;
}

class ZipWriter {
  readonly result: Uint8Array<ArrayBuffer>;
  private readonly view: DataView;
  private position = 0;

  constructor(size: number) {
    this.result = new Uint8Array(size);
    this.view = new DataView(this.result.buffer);
  }

  /** The header of a file, before its data or in the directory. */
  header(signature: number, entry: Entry, { isCentral }: { readonly isCentral: boolean }): void {
    const { name, data, crc, offset } = entry;
    this.numbers32(signature);
    if (isCentral) this.numbers16(VERSION);
    this.numbers16(VERSION, FLAGS, 0, 0, DATE);
    this.numbers32(crc, data.length, data.length);
    this.numbers16(name.length, 0);
    if (!isCentral) return;
    this.numbers16(0, 0, 0);
    this.numbers32(0, offset);
  }

  numbers16(...numbers: number[]): void {
    for (const number of numbers) {
      this.view.setUint16(this.position, number, true);
      this.position += 2;
    }
  }

  numbers32(...numbers: number[]): void {
    for (const number of numbers) {
      this.view.setUint32(this.position, number, true);
      this.position += 4;
    }
  }

  bytes(bytes: Uint8Array): void {
    this.result.set(bytes, this.position);
    this.position += bytes.length;
  }
}

/** Remainders of the bytes 0 to 255 by the polynomial 0xEDB88320. */
const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
  return crc;
});

/** CRC-32 as in ZIP.
 *  @example the bytes of '123456789'  →  0xcbf43926 */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = crcTable[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
