/** Rows of one height in a box that scrolls, all in pixels. */
export interface RowBox {
  readonly scrollTop: number;
  /** Of the part that shows rows. */
  readonly height: number;
  readonly rowHeight: number;
  readonly total: number;
}

/** Rows that are drawn: `first` and those up to `end`. */
export interface RowWindow {
  readonly first: number;
  readonly end: number;
}

/** Rows drawn beyond either edge, so that a small scroll shows no gap. */
const OVERSCAN = 8;

/** The rows that a box shows, and a few around them.
 *  @example 10 px rows, 100 of them, scrolled by 205 px, 30 px high: rows 20 to 23 show  →  12 to 32 */
export function visibleRows({ scrollTop, height, rowHeight, total }: RowBox): RowWindow {
  const top = Math.min(Math.max(0, scrollTop), Math.max(0, total * rowHeight - height));
  const first = Math.max(0, Math.floor(top / rowHeight) - OVERSCAN);
  const end = Math.min(total, Math.ceil((top + height) / rowHeight) + OVERSCAN);
  return { first: Math.min(first, total), end };
}

/** Where to scroll so that a row shows whole: nowhere if it does, else by as little as it takes.
 *  @example 10 px rows, 30 px high, scrolled by 100 px: row 5  →  50;  row 11  →  100;  row 14  →  120 */
export function scrollToRow(
  row: number,
  { scrollTop, height, rowHeight }: Omit<RowBox, 'total'>,
): number {
  const top = row * rowHeight;
  if (top < scrollTop) return top;
  return Math.max(scrollTop, top + rowHeight - height);
}
