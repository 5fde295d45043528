/** Field number → its values in order: varints as unsigned bigint, 32-bit floats as number, the rest as bytes. */
type WireFields = ReadonlyMap<number, readonly WireValue[]>;
type WireValue = bigint | number | Uint8Array;

/** Reads protocol-buffer wire format without a schema (protobuf.dev/programming-guides/encoding). */
export function decodeWire(bytes: Uint8Array): WireFields {
  const fields = new Map<number, WireValue[]>();
  const reader = new WireReader(bytes);
  while (!reader.atEnd()) {
    const tag = Number(reader.varint());
    const values = fields.get(tag >> 3) ?? [];
    fields.set(tag >> 3, values);
    values.push(reader.value(tag & 7));
  }
  return fields;
}

/** The varints of a packed repeated field. */
export function decodePacked(bytes: Uint8Array): bigint[] {
  const reader = new WireReader(bytes);
  const values: bigint[] = [];
  while (!reader.atEnd()) values.push(reader.varint());
  return values;
}

class WireReader {
  private readonly bytes: Uint8Array;
  private at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  atEnd(): boolean {
    return this.at === this.bytes.byteLength;
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const [byte = 0] = this.take(1);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  value(wireType: number): WireValue {
    if (wireType === 0) return this.varint();
    if (wireType === 2) return this.take(Number(this.varint()));
    if (wireType === 5) return Buffer.from(this.take(4)).readFloatLE();
    throw new Error(`Cannot decode: wire type ${wireType} is not expected`);
  }

  private take(count: number): Uint8Array {
    this.at += count;
    if (this.at > this.bytes.byteLength) throw new RangeError('Cannot decode: the bytes end early');
    return this.bytes.subarray(this.at - count, this.at);
  }
}

interface DecodedTensor {
  readonly name: string;
  readonly dataType: number;
  readonly dims: readonly number[];
  readonly raw?: Uint8Array;
  readonly external?: Readonly<Record<string, string>>;
}

export type DecodedModel = ReturnType<typeof decodeModel>;

/** ModelProto, by the field numbers of onnx.proto. */
export function decodeModel(bytes: Uint8Array) {
  const model = decodeWire(bytes);
  const graph = decodeWire(only(model, 7));
  return {
    irVersion: integer(model, 1),
    producer: text(model, 2),
    opsets: Object.fromEntries(
      messages(model, 8).map((opset) => [text(opset, 1), integer(opset, 2)]),
    ),
    name: text(graph, 2),
    nodes: messages(graph, 1).map(decodeNode),
    initializers: messages(graph, 5).map(decodeTensor),
    inputs: messages(graph, 11).map(decodeValueInfo),
    outputs: messages(graph, 12).map(decodeValueInfo),
  };
}

function decodeNode(node: WireFields) {
  return {
    inputs: texts(node, 1),
    outputs: texts(node, 2),
    name: text(node, 3),
    opType: text(node, 4),
    attributes: Object.fromEntries(
      messages(node, 5).map((attribute) => [text(attribute, 1), decodeAttribute(attribute)]),
    ),
    domain: text(node, 7),
  };
}

function decodeAttribute(attribute: WireFields) {
  const type = integer(attribute, 20);
  if (type === 1) return { float: attribute.get(2)?.[0] as number };
  if (type === 2) return { int: integer(attribute, 3) };
  if (type === 3) return { string: text(attribute, 4) };
  if (type === 7) return { ints: integers(attribute, 8) };
  throw new Error(`Cannot decode: attribute type ${type} is not expected`);
}

function decodeTensor(tensor: WireFields): DecodedTensor {
  const common = {
    name: text(tensor, 8),
    dataType: integer(tensor, 2),
    dims: integers(tensor, 1),
  };
  if (integer(tensor, 14) === 0) return { ...common, raw: only(tensor, 9) };
  const entries = messages(tensor, 13).map((entry) => [text(entry, 1), text(entry, 2)]);
  return { ...common, external: Object.fromEntries(entries) };
}

function decodeValueInfo(info: WireFields) {
  const tensorType = decodeWire(only(decodeWire(only(info, 2)), 1));
  const dims = messages(decodeWire(only(tensorType, 2)), 1).map((dim) =>
    dim.has(2) ? text(dim, 2) : integer(dim, 1),
  );
  return { name: text(info, 1), dataType: integer(tensorType, 1), dims };
}

function only(fields: WireFields, field: number): Uint8Array {
  const values = fields.get(field) ?? [];
  if (values.length !== 1) {
    throw new Error(`Cannot decode: field ${field} must occur once, got ${values.length}`);
  }
  return values[0] as Uint8Array;
}

function messages(fields: WireFields, field: number): WireFields[] {
  return (fields.get(field) ?? []).map((value) => decodeWire(value as Uint8Array));
}

function texts(fields: WireFields, field: number): string[] {
  return (fields.get(field) ?? []).map((value) => Buffer.from(value as Uint8Array).toString());
}

function text(fields: WireFields, field: number): string {
  return texts(fields, field).at(-1) ?? '';
}

function integer(fields: WireFields, field: number): number {
  return Number(BigInt.asIntN(64, (fields.get(field)?.at(-1) ?? 0n) as bigint));
}

function integers(fields: WireFields, field: number): number[] {
  return (fields.get(field) ?? [])
    .flatMap((value) => decodePacked(value as Uint8Array))
    .map((value) => Number(BigInt.asIntN(64, value)));
}
