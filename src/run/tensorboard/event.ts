import { ProtoWriter } from '../../engine/onnx/protobuf.ts';

/** What an event file holds, besides its first record. */
export interface EventContent {
  /** Numbers by their tags; NaN and infinities are kept. */
  readonly scalars?: Readonly<Record<string, number>>;
  /** Rows of Markdown by their tags. */
  readonly texts?: Readonly<Record<string, readonly string[]>>;
}

export interface EventTime {
  /** Seconds since 1970. */
  readonly wallTime: number;
  readonly step: number;
}

/** The first record of every event file. */
export function encodeFileVersion(wallTime: number): Uint8Array {
  return encodeEvent(wallTime, new ProtoWriter().string(3, 'brain.Event:2'));
}

/** Tells TensorBoard to forget what earlier files say of this step and later ones. */
export function encodeSessionStart({ wallTime, step }: EventTime): Uint8Array {
  const start = new ProtoWriter().int(1, 1);
  return encodeEvent(wallTime, new ProtoWriter().int(2, step).message(7, start));
}

/** An `Event` of TensorBoard in bytes, with one `Summary` of scalars and texts. */
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

/** Field 1 is a double, which ProtoWriter does not write; messages may be put together in pieces. */
function encodeEvent(wallTime: number, rest: ProtoWriter): Uint8Array {
  const time = new DataView(new ArrayBuffer(9));
  time.setUint8(0, (1 << 3) | 1);
  time.setFloat64(1, wallTime, true);
  return Buffer.concat([new Uint8Array(time.buffer), rest.finish()]);
}

const dtString = 7;

/** A `Summary.Value` for the text plugin: a vector of strings, one for each row. */
function encodeText(tag: string, rows: readonly string[]): ProtoWriter {
  const shape = new ProtoWriter().message(2, new ProtoWriter().int(1, rows.length));
  const tensor = new ProtoWriter().int(1, dtString).message(2, shape);
  for (const row of rows) tensor.string(8, row);
  const plugin = new ProtoWriter().string(1, 'text');
  const metadata = new ProtoWriter().message(1, plugin);
  return new ProtoWriter().string(1, tag).message(8, tensor).message(9, metadata);
}
