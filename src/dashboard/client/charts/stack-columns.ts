type Column = readonly (number | null | undefined)[];

/** Columns on top of each other: each has the sum of itself and of those before it. Where one has no
 *  number it has none still, and counts as 0 below others.
 *  @example [1, 2], [3, null], [5, 6]  →  [1, 2], [4, null], [9, 8] */
export function stackColumns(columns: readonly Column[]): (number | null | undefined)[][] {
  const sums = new Map<number, number>();
  return columns.map((column) =>
    column.map((value, row) => {
      if (value == null) return value;
      const sum = (sums.get(row) ?? 0) + value;
      sums.set(row, sum);
      return sum;
    }),
  );
}
