import './sample-grid.css';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useMedia } from '../shell/hooks.ts';
import type { SampleSort } from './sample-filters.tsx';
import { rowId, SampleGridHeader, SampleGridRow, sourcesOf } from './sample-grid-row.tsx';
import type { RowPages, RowWindow } from './sample-list.ts';

interface SampleGridProps {
  readonly pages: RowPages;
  readonly sort: SampleSort;
  readonly onSort: (sort: SampleSort) => void;
  /** Position of the row that keys act on. */
  readonly active: number;
  readonly onActive: (position: number) => void;
  /** Index of the sample whose details are open. */
  readonly open: number | undefined;
  readonly onOpen: (position: number) => void;
  readonly box: RefObject<HTMLDivElement | null>;
}

/** Height of a row in pixels, as in samples.css: one line on wide screens, three on narrow ones. */
const ROW_HEIGHTS = { wide: 34, narrow: 76 };

/** Table of samples that draws only the visible rows. */
export function SampleGrid(props: SampleGridProps) {
  const { pages, active, box, open } = props;
  const rowHeight = useMedia('(max-width: 700px)') ? ROW_HEIGHTS.narrow : ROW_HEIGHTS.wide;
  const total = pages.total ?? 0;
  const { first, end } = useRowWindow(box, { rowHeight, total });
  useEffect(() => {
    pages.want({ first: Math.max(0, first - 40), end: end + 40 });
  }, [pages, first, end]);
  const latest = useRef(active);
  latest.current = active;
  const sources = sourcesOf(pages.row(first) ?? { sourceScores: null });
  const isActiveDrawn = active >= first && active < end;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a real table cannot draw only some of its rows
    <div
      ref={box}
      role="grid"
      class="samples-grid"
      aria-label="Samples"
      aria-rowcount={total + 1}
      aria-activedescendant={isActiveDrawn ? rowId(active) : undefined}
      tabIndex={0}
      style={sources.length > 0 ? { '--source-columns': `repeat(${sources.length}, 6.5rem)` } : {}}
      onKeyDown={(event) => handleKey(event, { ...props, latest, total, rowHeight })}
    >
      <SampleGridHeader sort={props.sort} onSort={props.onSort} sources={sources} />
      <div role="presentation" class="samples-rows" style={{ height: `${total * rowHeight}px` }}>
        {Array.from({ length: end - first }, (_, i) => {
          const row = pages.row(first + i);
          return (
            <SampleGridRow
              key={first + i}
              row={row}
              sources={sources}
              position={first + i}
              top={(first + i) * rowHeight}
              isActive={first + i === active}
              isOpen={row !== undefined && row.index === open}
              onOpen={props.onOpen}
            />
          );
        })}
      </div>
    </div>
  );
}

/** The visible rows; follows scrolling and resizing. */
function useRowWindow(
  box: RefObject<HTMLDivElement | null>,
  { rowHeight, total }: { readonly rowHeight: number; readonly total: number },
): RowWindow {
  const [rows, setRows] = useState<RowWindow>({ first: 0, end: 0 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const update = () => {
      const { scrollTop, clientHeight: height } = element;
      const next = visibleRows({ scrollTop, height, rowHeight, total });
      setRows((now) => (now.first === next.first && now.end === next.end ? now : next));
    };
    update();
    const observer = new ResizeObserver(update);
    observer.observe(element);
    element.addEventListener('scroll', update, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', update);
    };
  }, [rowHeight, total]);
  return rows;
}

function handleKey(
  event: KeyboardEvent,
  {
    latest,
    onActive,
    onOpen,
    box,
    total,
    rowHeight,
  }: SampleGridProps & {
    /** The active position, even if it is not drawn yet. */
    readonly latest: { current: number };
    readonly total: number;
    readonly rowHeight: number;
  },
): void {
  const element = box.current;
  // Keys on a header button belong to the button.
  if (element === null || event.target !== element || total === 0) return;
  const header = element.firstElementChild?.clientHeight ?? 0;
  const height = element.clientHeight - header;
  const page = Math.max(1, Math.floor(height / rowHeight) - 1);
  const active = latest.current;
  const targets: Readonly<Record<string, number>> = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    PageDown: active + page,
    PageUp: active - page,
    Home: 0,
    End: total - 1,
  };
  const target = targets[event.key];
  if (event.key === 'Enter') onOpen(active);
  else if (target === undefined) return;
  else {
    const position = Math.min(Math.max(0, target), total - 1);
    latest.current = position;
    onActive(position);
    element.scrollTop = scrollToRow(position, { scrollTop: element.scrollTop, height, rowHeight });
  }
  event.preventDefault();
}

/** A scrolling box of rows of equal height, in pixels. */
interface RowBox {
  readonly scrollTop: number;
  /** Height of the part that shows rows. */
  readonly height: number;
  readonly rowHeight: number;
  readonly total: number;
}

/** Number of rows drawn beyond either edge, so that a small scroll shows no gap. */
const OVERSCAN = 8;

/** The visible rows and a few around them.
 *  @example 10 px rows, 100 of them, scrolled by 205 px, 30 px high: rows 20 to 23 are visible  →  12 to 32 */
export function visibleRows({ scrollTop, height, rowHeight, total }: RowBox): RowWindow {
  const top = Math.min(Math.max(0, scrollTop), Math.max(0, total * rowHeight - height));
  const first = Math.max(0, Math.floor(top / rowHeight) - OVERSCAN);
  const end = Math.min(total, Math.ceil((top + height) / rowHeight) + OVERSCAN);
  return { first: Math.min(first, total), end };
}

/** The smallest scroll that makes a row fully visible.
 *  @example 10 px rows, 30 px high, scrolled by 100 px: row 5  →  50;  row 11  →  100;  row 14  →  120 */
export function scrollToRow(
  row: number,
  { scrollTop, height, rowHeight }: Omit<RowBox, 'total'>,
): number {
  const top = row * rowHeight;
  if (top < scrollTop) return top;
  return Math.max(scrollTop, top + rowHeight - height);
}
