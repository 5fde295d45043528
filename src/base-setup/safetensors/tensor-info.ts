/** Bytes per element, in the reference implementation's order. A file stores the last dtypes first,
 *  so that each tensor starts at a multiple of its element size. */
export const dtypeBytes = {
  BOOL: 1,
  U8: 1,
  I8: 1,
  I16: 2,
  U16: 2,
  F16: 2,
  BF16: 2,
  I32: 4,
  U32: 4,
  F32: 4,
  F64: 8,
  I64: 8,
  U64: 8,
} as const;

/** A dtype that can be listed and read as bytes. */
export type Dtype = keyof typeof dtypeBytes;

export const dtypes = Object.keys(dtypeBytes) as readonly Dtype[];

/** The dtypes that can be read into and written from float32. F64 is excluded: weights are not
 *  stored in it, and reading it would silently lose digits. */
export const floatDtypes = ['F32', 'F16', 'BF16'] as const;

/** Floating-point dtypes of safetensors that can be read as float32. */
export type FloatDtype = (typeof floatDtypes)[number];

export function isDtype(text: string): text is Dtype {
  return Object.hasOwn(dtypeBytes, text);
}

export function isFloatDtype(text: string): text is FloatDtype {
  return (floatDtypes as readonly string[]).includes(text);
}

/** A tensor and the position of its bytes: what ONNX Runtime needs to read it as external data. */
export interface TensorInfo {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly file: string;
  /** The first byte, counted from the start of the file. */
  readonly offset: number;
  readonly length: number;
}

/** The product of the dims: 1 for a scalar, 0 if any dim is 0, Infinity above 2⁵³ − 1. */
export function countElements(shape: readonly number[]): number {
  if (shape.includes(0)) return 0;
  const count = shape.reduce((product, dim) => product * dim, 1);
  return Number.isSafeInteger(count) ? count : Number.POSITIVE_INFINITY;
}

/** Text from a file for an error message: escaped and truncated to 80 characters. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

/** A shape or pair of offsets for an error message, truncated to 8 numbers. */
export function showList(numbers: readonly number[]): string {
  const more = numbers.length > 8 ? `, … ${numbers.length} in total` : '';
  return `[${numbers.slice(0, 8).join(', ')}${more}]`;
}
