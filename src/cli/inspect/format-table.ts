/** Rows as indented lines whose columns are aligned: `l` to the left, `r` to the right.
 *  @example [['a', '1'], ['bc', '23']], 'lr'  →  '  a    1\n  bc  23' */
export function formatTable(rows: readonly (readonly string[])[], align = 'll'): string {
  const widths = [...align].map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) => {
      const cells = row.map((cell, column) =>
        align[column] === 'r' ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      );
      return `  ${cells.join('  ')}`.trimEnd();
    })
    .join('\n');
}
