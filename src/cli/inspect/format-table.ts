import { stripControls } from '../strip-controls.ts';

/** Rows as indented lines whose columns are aligned: `l` to the left, `r` to the right.
 *  Cells may hold text of anyone: controls are taken out of it.
 *  @example [['a', '1'], ['bc', '23']], 'lr'  →  '  a    1\n  bc  23' */
export function formatTable(rows: readonly (readonly string[])[], align = 'll'): string {
  const plain = rows.map((row) => row.map(stripControls));
  const widths = [...align].map((_, column) =>
    Math.max(...plain.map((row) => row[column]?.length ?? 0)),
  );
  return plain
    .map((row) => {
      const cells = row.map((cell, column) =>
        align[column] === 'r' ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      );
      return `  ${cells.join('  ')}`.trimEnd();
    })
    .join('\n');
}
