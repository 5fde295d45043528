interface TextPlotOptions {
  /** In characters, including the axis labels. */
  readonly width: number;
  readonly height: number;
}

/** The dots of a braille character, by column from the top. */
const dots = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;

/** Draws a curve with braille dots; its maximum and minimum are on the left.
 *  @example [0, 1], width 8, height 1  →  two dots, the second above the first */
export function plotText(values: readonly number[], { width, height }: TextPlotOptions): string[] {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const labels = [high, low].map((value) => value.toFixed(2));
  const indent = Math.max(...labels.map(({ length }) => length));
  const columns = Math.max(1, width - indent - 2);
  const cells = Array.from({ length: height }, () => new Uint8Array(columns));
  const span = high - low || 1;
  for (let x = 0; x < 2 * columns; x++) {
    const value = interpolate(values, x / Math.max(1, 2 * columns - 1));
    const y = Math.round(((high - value) / span) * (4 * height - 1));
    const row = cells[Math.floor(y / 4)]!;
    row[Math.floor(x / 2)]! |= dots[x % 2]![y % 4]!;
  }
  return cells.map((row, i) => {
    const label = i === 0 ? labels[0]! : i === height - 1 ? labels[1]! : '';
    const curve = Array.from(row, (bits) => String.fromCodePoint(0x2800 + bits)).join('');
    return `${label.padStart(indent)} │${curve}`;
  });
}

/** The value at a fraction of the range, interpolated between its two neighbours. */
function interpolate(values: readonly number[], fraction: number): number {
  const position = fraction * (values.length - 1);
  const before = Math.floor(position);
  const [a, b] = [values[before]!, values[Math.min(before + 1, values.length - 1)]!];
  return a + (b - a) * (position - before);
}
