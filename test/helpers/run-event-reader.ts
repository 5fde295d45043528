/** Reads the frames of a TFRecord file and checks both checksums of each. */
export function readRecords(file: Buffer): readonly Buffer[] {
  const records: Buffer[] = [];
  for (let at = 0; at < file.length; ) {
    const length = Number(file.readBigUInt64LE(at));
    expectCrc(file.subarray(at, at + 8), file.readUInt32LE(at + 8));
    const data = file.subarray(at + 12, at + 12 + length);
    expectCrc(data, file.readUInt32LE(at + 12 + length));
    records.push(data);
    at += 12 + length + 4;
  }
  return records;
}

/** Checks a masked checksum with bitwise long division. */
function expectCrc(bytes: Buffer, stored: number): void {
  let crc = 0xffffffffn;
  for (const byte of bytes) {
    crc ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ 0x82f63b78n : crc >> 1n;
  }
  const rotated = BigInt.asUintN(32, BigInt(stored) - 0xa282ead8n);
  const unmasked = BigInt.asUintN(32, (rotated << 15n) | (rotated >> 17n));
  if (unmasked !== (crc ^ 0xffffffffn)) throw new Error(`A checksum is wrong: ${stored}`);
}

type Field = number | Buffer;

/** The fields of a protocol-buffer message, all values of each in order. */
function readMessage(bytes: Buffer): Map<number, Field[]> {
  const fields = new Map<number, Field[]>();
  let at = 0;
  const varint = (): number => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(BigInt.asIntN(64, value));
    }
  };
  const slice = (length: number): Buffer => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  const readers: Readonly<Record<number, () => Field>> = {
    0: varint,
    1: () => slice(8).readDoubleLE(),
    2: () => slice(varint()),
    5: () => slice(4).readFloatLE(),
  };
  while (at < bytes.length) {
    const key = varint();
    const value = readers[key & 7]!();
    fields.set(key >> 3, [...(fields.get(key >> 3) ?? []), value]);
  }
  return fields;
}

export interface ReadEvent {
  readonly wallTime: number;
  readonly step: number;
  readonly version?: string;
  /** Whether it starts a session, which invalidates later steps of older files. */
  readonly isStart: boolean;
  readonly scalars: Readonly<Record<string, number>>;
  readonly texts: Readonly<Record<string, readonly string[]>>;
}

/** Reads an event file of TensorBoard with an independent parser. */
export function readEvents(file: Buffer): readonly ReadEvent[] {
  return readRecords(file).map((record) => {
    const event = readMessage(record);
    const values = messages(messages(event, 5)[0], 1);
    const version = event.get(3)?.[0];
    return {
      wallTime: event.get(1)![0] as number,
      step: (event.get(2)?.[0] as number | undefined) ?? 0,
      ...(version !== undefined && { version: String(version) }),
      isStart: messages(event, 7)[0]?.get(1)?.[0] === 1,
      scalars: Object.fromEntries(
        values
          .filter((it) => it.has(2))
          .map((it) => [String(it.get(1)![0]), it.get(2)![0] as number]),
      ),
      texts: Object.fromEntries(values.filter((it) => it.has(8)).map(readText)),
    };
  });
}

function messages(of: Map<number, Field[]> | undefined, field: number): Map<number, Field[]>[] {
  return (of?.get(field) ?? []).map((bytes) => readMessage(bytes as Buffer));
}

function readText(value: Map<number, Field[]>): [string, string[]] {
  const [tensor] = messages(value, 8);
  const [dim] = messages(messages(tensor, 2)[0], 2);
  const [plugin] = messages(messages(value, 9)[0], 1);
  const rows = (tensor!.get(8) ?? []).map(String);
  const facts = [tensor!.get(1)![0], dim!.get(1)![0], String(plugin!.get(1)![0])];
  if (facts.join() !== `7,${rows.length},text`) throw new Error(`Not a text: ${facts.join()}`);
  return [String(value.get(1)![0]), rows];
}
