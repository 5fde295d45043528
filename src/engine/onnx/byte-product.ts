import type { Dim } from '../graph/dim.ts';
import type { ByteFormat } from '../graph/ops/quantized.ts';
import type { LoweringContext } from './lowering-context.ts';
import { onnxDataType } from './model-proto.ts';
import { lowerMatMul, MICROSOFT } from './products.ts';

export interface ByteProductRequest extends ByteFormat {
  /** Names of x, the weight and, if there are any, the scales. */
  readonly inputs: readonly string[];
  readonly transposed: boolean;
  /** Columns of x. */
  readonly inner: Dim;
  /** Columns of the product. */
  readonly out: Dim;
}

/** Lowers x·W for a weight in bytes. Rows that several weights multiply are quantized once. */
export function lowerByteProduct(context: LoweringContext, request: ByteProductRequest): string {
  if (request.rows === 'float32') return floatProduct(context, request);
  const { inputs, maxByte, transposed, out } = request;
  const [x = '', weight = '', scales = context.scalar(1)] = inputs;
  const right = transposed
    ? context.node('Transpose', [weight], { attributes: { perm: [1, 0] } })
    : weight;
  const multiply = (bytes: string) => {
    const zeros = [context.scalar(maxByte + 1, 'uint8'), context.scalar(0, 'int8')];
    const operands = [bytes, right, context.scalar(1), scales, ...zeros];
    return context.node('MatMulIntegerToFloat', operands, { domain: MICROSOFT });
  };
  const high = quantizeRows(context, x, maxByte);
  if (request.rows === 'one-byte') return context.node('Mul', [multiply(high.bytes), high.scale]);
  // Both bytes of all rows are one operand, so the weight is packed once.
  const pairs = context.node('Reshape', [
    multiply(pairBytes(context, request, high)),
    context.sizes([-1, 2, out]),
  ]);
  const sums = context.node('MatMul', [pairScales(context, request, high), pairs]);
  return context.node('Reshape', [sums, context.sizes([-1, out])]);
}

/** (x·float32(W))·scales: for processors that multiply float32 numbers faster than pairs of bytes. */
function floatProduct(
  context: LoweringContext,
  { inputs: [x = '', weight = '', scales], transposed }: ByteProductRequest,
): string {
  const right = context.reuse(`float32 ${weight}`, () =>
    context.node('Cast', [weight], { attributes: { to: BigInt(onnxDataType.float32) } }),
  );
  const product = lowerMatMul(context, [x, right], { transB: transposed });
  return scales === undefined ? product : context.node('Mul', [product, scales]);
}

interface QuantizedRows {
  /** q = round(x/scale) + maxByte + 1 */
  readonly bytes: string;
  /** [M, 1]: max|x|/maxByte */
  readonly scale: string;
}

/** Quantizes each row by its largest magnitude. A row of zeros has scale 0, so its products are 0. */
function quantizeRows(context: LoweringContext, x: string, maxByte: number): QuantizedRows {
  const last = context.integers([-1]);
  const scale = context.reuse(`row scales ${x}`, () => {
    const highest = context.node('ReduceMax', [x, last]);
    const lowest = context.node('Neg', [context.node('ReduceMin', [x, last])]);
    return context.node('Div', [context.node('Max', [highest, lowest]), context.scalar(maxByte)]);
  });
  const bytes = context.reuse(`row bytes ${x}`, () =>
    context.node('QuantizeLinear', [x, ...scalesAndZeros(context, scale, maxByte)], {
      attributes: { axis: 0n },
    }),
  );
  return { bytes, scale };
}

/** Each row's high bytes, then its low bytes, [2M, in]. The low byte is what the high byte leaves, in
 *  steps of scale/(2·maxByte). */
function pairBytes(
  context: LoweringContext,
  { inputs: [x = ''], maxByte, inner }: ByteProductRequest,
  high: QuantizedRows,
): string {
  return context.reuse(`pairs of bytes ${x}`, () => {
    const coarse = scalesAndZeros(context, high.scale, maxByte);
    const rounded = context.node('DequantizeLinear', [high.bytes, ...coarse], {
      attributes: { axis: 0n },
    });
    const rest = context.node('Sub', [x, rounded]);
    const step = context.node('Mul', [high.scale, context.scalar(1 / (2 * maxByte))]);
    const fine = scalesAndZeros(context, step, maxByte);
    const low = context.node('QuantizeLinear', [rest, ...fine], { attributes: { axis: 0n } });
    const pair = context.node('Concat', [high.bytes, low], { attributes: { axis: 1n } });
    return context.node('Reshape', [pair, context.sizes([-1, inner])]);
  });
}

/** [M, 1, 2]: the scales of each row's high and low byte. One product adds both halves, which takes a
 *  third of the time of separate multiplications and a sum. */
function pairScales(
  context: LoweringContext,
  { inputs: [x = ''], maxByte }: ByteProductRequest,
  { scale }: QuantizedRows,
): string {
  return context.reuse(`scales of pairs ${x}`, () => {
    const weights = context.vector([1, 1 / (2 * maxByte)]);
    return context.node('Reshape', [
      context.node('Mul', [scale, weights]),
      context.integers([-1, 1, 2]),
    ]);
  });
}

/** Scales [M, 1] as [M], and the byte of 0 for each row. */
function scalesAndZeros(context: LoweringContext, scale: string, maxByte: number): string[] {
  const flat = context.reuse(`flat ${scale}`, () =>
    context.node('Reshape', [scale, context.integers([-1])]),
  );
  const zeros = context.reuse(`zeros ${scale}`, () =>
    context.node('Expand', [context.scalar(maxByte + 1, 'uint8'), context.node('Shape', [flat])]),
  );
  return [flat, zeros];
}
