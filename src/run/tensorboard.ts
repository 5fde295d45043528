import { mkdirSync, readdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { ProtoWriter } from '../engine/onnx/protobuf.ts';
import { syncFolderSync } from '../fs/index.ts';
import { AppendFile } from './log-files.ts';

/** The content of an event. */
export interface EventContent {
  /** Numbers by tag; NaN and infinities are kept. */
  readonly scalars?: Readonly<Record<string, number>>;
  /** Rows of Markdown by tag. */
  readonly texts?: Readonly<Record<string, readonly string[]>>;
}

/** Options of an event writer. */
export interface EventWriterOptions {
  /** Completed steps of a resumed run: TensorBoard drops what older files say about later steps. */
  readonly resumedStep?: number | undefined;
}

/** Writes a new TensorBoard event file into a folder. */
export class EventWriter {
  private readonly folder: string;
  private readonly resumedStep: number | undefined;
  /** Opened by the first write, so that a run without events has no file. */
  private file: AppendFile | undefined;

  constructor(folder: string, { resumedStep }: EventWriterOptions = {}) {
    this.folder = folder;
    this.resumedStep = resumedStep;
  }

  /** Appends the numbers and texts of one step. */
  write(step: number, content: EventContent): void {
    this.file ??= this.open();
    this.file.append(frameRecord(encodeSummary({ wallTime: now(), step }, content)));
  }

  /** Flushes everything to disk. */
  sync(): void {
    this.file?.sync();
  }

  /** Closes the file. */
  close(): void {
    this.file?.close();
  }

  private open(): AppendFile {
    const { folder, resumedStep } = this;
    mkdirSync(folder, { recursive: true });
    syncFolderSync(dirname(folder));
    const file = new AppendFile(join(folder, eventFileName(folder)));
    file.append(frameRecord(encodeFileVersion(now())));
    if (resumedStep === undefined) return file;
    file.append(frameRecord(encodeSessionStart({ wallTime: now(), step: resumedStep + 1 })));
    return file;
  }
}

/** Seconds since 1970. */
function now(): number {
  return Date.now() / 1000;
}

/** TensorBoard's name for an event file. It reads files in the order of their names, so a file
 *  created in the same second as the previous one is named after the next second. */
function eventFileName(folder: string): string {
  const seconds = readdirSync(folder).map((name) => Number(/tfevents\.(\d+)/.exec(name)?.[1] ?? 0));
  const second = Math.max(Math.floor(now()), ...seconds.map((last) => last + 1));
  return `events.out.tfevents.${String(second).padStart(10, '0')}.${hostname()}.${process.pid}.0`;
}

interface EventTime {
  /** Seconds since 1970. */
  readonly wallTime: number;
  readonly step: number;
}

/** The first record of every event file. */
function encodeFileVersion(wallTime: number): Uint8Array {
  return encodeEvent(wallTime, new ProtoWriter().string(3, 'brain.Event:2'));
}

/** Makes TensorBoard ignore what earlier files say about this step and later ones. */
function encodeSessionStart({ wallTime, step }: EventTime): Uint8Array {
  const start = new ProtoWriter().int(1, 1);
  return encodeEvent(wallTime, new ProtoWriter().int(2, step).message(7, start));
}

/** A TensorBoard `Event` with one `Summary` of scalars and texts. */
export function encodeSummary({ wallTime, step }: EventTime, content: EventContent): Uint8Array {
  const summary = new ProtoWriter();
  for (const [tag, value] of Object.entries(content.scalars ?? {})) {
    summary.message(1, new ProtoWriter().string(1, tag).float(2, value));
  }
  for (const [tag, rows] of Object.entries(content.texts ?? {})) {
    summary.message(1, encodeText(tag, rows));
  }
  return encodeEvent(wallTime, new ProtoWriter().int(2, step).message(5, summary));
}

/** Field 1 is a double, which ProtoWriter does not write. Encoded messages may be concatenated. */
function encodeEvent(wallTime: number, rest: ProtoWriter): Uint8Array {
  const time = new DataView(new ArrayBuffer(9));
  time.setUint8(0, (1 << 3) | 1);
  time.setFloat64(1, wallTime, true);
  return Buffer.concat([new Uint8Array(time.buffer), rest.finish()]);
}

const dtString = 7;

/** A `Summary.Value` for the text plugin: a vector of strings, one per row. */
function encodeText(tag: string, rows: readonly string[]): ProtoWriter {
  const shape = new ProtoWriter().message(2, new ProtoWriter().int(1, rows.length));
  const tensor = new ProtoWriter().int(1, dtString).message(2, shape);
  for (const row of rows) tensor.string(8, row);
  const plugin = new ProtoWriter().string(1, 'text');
  const metadata = new ProtoWriter().message(1, plugin);
  return new ProtoWriter().string(1, tag).message(8, tensor).message(9, metadata);
}

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

/** Remainder of each byte modulo Castagnoli's polynomial, bits reversed. */
const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  return crc;
});

/** CRC-32C as iSCSI defines it (RFC 3720).
 *  @example "123456789"  →  0xe3069283 */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ crcTable[(crc ^ byte) & 0xff]!;
  return ~crc >>> 0;
}
