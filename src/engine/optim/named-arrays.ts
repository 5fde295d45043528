/** Host arrays by parameter name: the parameters themselves, their gradients or their moments. */
export type NamedArrays = Readonly<Record<string, Float32Array>>;

export interface ArraysExpectation {
  /** What fails if the arrays do not fit, such as `step AdamW`. */
  readonly action: string;
  /** What one array is called, such as `gradient`. */
  readonly noun: string;
  /** The names and lengths that are wanted. */
  readonly like: NamedArrays;
  /** Allows names to be missing. */
  readonly partial?: boolean;
  readonly remedy: string;
}

/** Refuses arrays whose names or lengths differ from those wanted. */
export function expectArrays(arrays: NamedArrays, expectation: ArraysExpectation): void {
  const { action, noun, like, partial = false, remedy } = expectation;
  for (const [name, { length }] of Object.entries(arrays)) {
    if (!Object.hasOwn(like, name)) {
      throw new RangeError(
        `Cannot ${action}: ${noun} "${name}" must belong to a parameter, got none of that name; ${remedy}`,
      );
    }
    const wanted = (like[name] as Float32Array).length;
    if (length !== wanted) {
      throw new RangeError(
        `Cannot ${action}: ${noun} "${name}" must have ${wanted} elements, got ${length}; ${remedy}`,
      );
    }
  }
  if (partial) return;
  const missing = Object.keys(like).find((name) => !Object.hasOwn(arrays, name));
  if (missing !== undefined) {
    throw new RangeError(
      `Cannot ${action}: ${noun} "${missing}" must be given, got none of that name; ${remedy}`,
    );
  }
}
