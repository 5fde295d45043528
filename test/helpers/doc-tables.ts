type Row = Readonly<Record<string, string>>;

/** The rows of all tables under a heading, by the names of their columns. */
export function tablesUnder(text: string, heading = ''): Row[] {
  const [, section = ''] = heading === '' ? ['', text] : text.split(`\n## ${heading}\n`);
  const own = heading === '' ? section : section.split('\n## ')[0]!;
  return [...own.matchAll(/(?:^\|.*\|\n?)+/gm)].flatMap(([table]) => {
    const [header, , ...rows] = table.trimEnd().split('\n').map(cellsOf);
    return rows.map((row) => Object.fromEntries(header!.map((name, i) => [name, row[i]!])));
  });
}

/** @example `| a | b\\|c |`  →  a and b|c */
function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}
