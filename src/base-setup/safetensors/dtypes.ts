/** Bytes of one element, in the reference implementation's order: a file holds the last dtypes
 *  first, so that each tensor starts at a multiple of its element size. */
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

/** The dtypes that become float32 when read and that are written from it. F64 is not among them:
 *  weights are not stored in it, and reading it would silently lose digits. */
export const floatDtypes = ['F32', 'F16', 'BF16'] as const;

export type FloatDtype = (typeof floatDtypes)[number];

export function isDtype(text: string): text is Dtype {
  return Object.hasOwn(dtypeBytes, text);
}

export function isFloatDtype(text: string): text is FloatDtype {
  return (floatDtypes as readonly string[]).includes(text);
}
