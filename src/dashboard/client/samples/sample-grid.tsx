import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RowPages } from './row-pages.ts';
import { SampleGridHeader } from './sample-grid-header.tsx';
import { rowId, SampleGridRow } from './sample-grid-row.tsx';
import type { SampleSort } from './sample-query.ts';
import { useMedia } from './use-media.ts';
import { type RowWindow, scrollToRow, visibleRows } from './virtual-window.ts';

interface SampleGridProps {
  readonly pages: RowPages;
  readonly sort: SampleSort;
  readonly onSort: (sort: SampleSort) => void;
  /** Place of the row that keys act on. */
  readonly active: number;
  readonly onActive: (place: number) => void;
  /** Index of the sample whose details are open. */
  readonly open: number | undefined;
  readonly onOpen: (place: number) => void;
  readonly box: RefObject<HTMLDivElement | null>;
}

/** Height of a row as samples.css has it, where a row is one line and where it is three. */
const ROW_HEIGHTS = { wide: 34, narrow: 76 };

/** Table of samples of which only the rows in sight are drawn. */
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
  const isActiveDrawn = active >= first && active < end;
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a table cannot be drawn in part
    <div
      ref={box}
      role="grid"
      class="samples-grid"
      aria-label="Samples"
      aria-rowcount={total + 1}
      aria-activedescendant={isActiveDrawn ? rowId(active) : undefined}
      tabIndex={0}
      onKeyDown={(event) => handleKey(event, { ...props, latest, total, rowHeight })}
    >
      <SampleGridHeader sort={props.sort} onSort={props.onSort} />
      <div role="presentation" class="samples-rows" style={{ height: `${total * rowHeight}px` }}>
        {Array.from({ length: end - first }, (_, i) => {
          const row = pages.row(first + i);
          return (
            <SampleGridRow
              key={first + i}
              row={row}
              place={first + i}
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

/** The rows in sight, as the box is scrolled and sized. */
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
    /** The active place, also where it has not been drawn yet. */
    readonly latest: { current: number };
    readonly total: number;
    readonly rowHeight: number;
  },
): void {
  const element = box.current;
  // Keys on a header's button are the button's.
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
    const place = Math.min(Math.max(0, target), total - 1);
    latest.current = place;
    onActive(place);
    element.scrollTop = scrollToRow(place, { scrollTop: element.scrollTop, height, rowHeight });
  }
  event.preventDefault();
}
