/** Writes protocol-buffer wire format: varints, 32-bit floats and length-delimited fields. */
export class ProtoWriter {
  private readonly chunks: Uint8Array[] = [];
  private size = 0;

  /** `int32`, `int64`, `bool` and enum fields. Negative numbers take ten bytes, as the format requires. */
  int(field: number, value: number | bigint): this {
    this.varint((field << 3) | 0);
    return this.varint(value);
  }

  float(field: number, value: number): this {
    this.varint((field << 3) | 5);
    return this.push(new Uint8Array(new Float32Array([value]).buffer));
  }

  string(field: number, value: string): this {
    return this.bytes(field, new TextEncoder().encode(value));
  }

  bytes(field: number, value: Uint8Array): this {
    this.varint((field << 3) | 2);
    this.varint(value.byteLength);
    return this.push(value);
  }

  message(field: number, value: ProtoWriter): this {
    this.varint((field << 3) | 2);
    this.varint(value.size);
    this.chunks.push(...value.chunks);
    this.size += value.size;
    return this;
  }

  packedInts(field: number, values: readonly (number | bigint)[]): this {
    const packed = new ProtoWriter();
    for (const value of values) packed.varint(value);
    return this.message(field, packed);
  }

  finish(): Uint8Array {
    const out = new Uint8Array(this.size);
    let at = 0;
    for (const chunk of this.chunks) {
      out.set(chunk, at);
      at += chunk.byteLength;
    }
    return out;
  }

  private varint(value: number | bigint): this {
    let rest = BigInt.asUintN(64, BigInt(value));
    const bytes: number[] = [];
    while (rest > 0x7fn) {
      bytes.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    bytes.push(Number(rest));
    return this.push(Uint8Array.from(bytes));
  }

  private push(chunk: Uint8Array): this {
    this.chunks.push(chunk);
    this.size += chunk.byteLength;
    return this;
  }
}
