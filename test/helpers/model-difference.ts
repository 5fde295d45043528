type Numbers = ArrayLike<number>;

/** Largest |a − b| of two lists of rows; NaN if there is a NaN, an error if sizes differ. */
export function largestDifference(a: readonly Numbers[], b: readonly Numbers[]): number {
  expectEqualSizes('rows', a, b);
  return a.reduce((largest, row, i) => {
    const other = b[i] as Numbers;
    expectEqualSizes(`elements of row ${i}`, row, other);
    return Array.from(row).reduce(
      (most, value, j) => Math.max(most, Math.abs(value - (other[j] as number))),
      largest,
    );
  }, 0);
}

/** Largest |a − b| relative to the largest |b|. */
export function relativeDifference(a: readonly Numbers[], b: readonly Numbers[]): number {
  const zeros = b.map(({ length }) => new Float32Array(length));
  return largestDifference(a, b) / largestDifference(b, zeros);
}

/** √(mean (a − b)²) over all numbers. */
export function rootMeanSquare(a: readonly Numbers[], b: readonly Numbers[]): number {
  expectEqualSizes('rows', a, b);
  let [sum, count] = [0, 0];
  for (const [i, row] of a.entries()) {
    const other = b[i] as Numbers;
    expectEqualSizes(`elements of row ${i}`, row, other);
    for (let j = 0; j < row.length; j++) sum += ((row[j] as number) - (other[j] as number)) ** 2;
    count += row.length;
  }
  return Math.sqrt(sum / count);
}

export function standardDeviation(rows: readonly Numbers[]): number {
  const sums = rows.map((row) => Array.from(row).reduce((sum, value) => sum + value, 0));
  const count = rows.reduce((total, { length }) => total + length, 0);
  const mean = sums.reduce((total, sum) => total + sum, 0) / count;
  return rootMeanSquare(
    rows,
    rows.map(({ length }) => new Float64Array(length).fill(mean)),
  );
}

function expectEqualSizes(what: string, a: Numbers | readonly Numbers[], b: typeof a): void {
  if (a.length === b.length) return;
  throw new RangeError(`Cannot compare ${a.length} with ${b.length} ${what}`);
}
