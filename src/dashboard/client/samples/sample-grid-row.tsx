import type { SampleRow } from '../../api.ts';
import { formatNumber, oneLine } from '../format.ts';
import { nextSort, type SampleSort, type SortKey } from './sample-filters.tsx';

const columns: readonly { readonly label: string; readonly key?: SortKey }[] = [
  { label: 'Step', key: 'step' },
  { label: 'Score', key: 'score' },
  { label: 'KL', key: 'kl' },
  { label: 'Length', key: 'length' },
  { label: 'Prompt' },
  { label: 'Response' },
];

interface SortProps {
  readonly sort: SampleSort;
  readonly onSort: (sort: SampleSort) => void;
}

/** Column headers; a click on one sorts by it. */
export function SampleGridHeader({ sort, onSort }: SortProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a real table cannot draw only some of its rows
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
    <div role="row" aria-rowindex={1} class="samples-row samples-head">
      {columns.map(({ label, key }) => (
        <HeaderCell key={label} label={label} sortKey={key} sort={sort} onSort={onSort} />
      ))}
    </div>
  );
}

function HeaderCell({
  label,
  sortKey,
  sort,
  onSort,
}: SortProps & { readonly label: string; readonly sortKey: SortKey | undefined }) {
  const name = `samples-cell samples-${label.toLowerCase()}`;
  if (sortKey === undefined) {
    return (
      // biome-ignore lint/a11y/useSemanticElements: a real table cannot draw only some of its rows
      // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
      <div role="columnheader" class={name}>
        {label}
      </div>
    );
  }
  const isSorted = sort.sort === sortKey;
  const direction = sort.order === 'asc' ? 'ascending' : 'descending';
  return (
    // biome-ignore lint/a11y/useSemanticElements: a real table cannot draw only some of its rows
    // biome-ignore lint/a11y/useFocusableInteractive: its button has the focus
    <div role="columnheader" aria-sort={isSorted ? direction : 'none'} class={name}>
      <button type="button" class="samples-sort" onClick={() => onSort(nextSort(sort, sortKey))}>
        {label}
        <span aria-hidden="true">{isSorted ? (sort.order === 'asc' ? ' ▲' : ' ▼') : ''}</span>
      </button>
    </div>
  );
}

/** Longest prompt or response in a row, in characters. */
const LINE_LIMIT = 300;

/** One sample; an ellipsis until it is loaded. */
export function SampleGridRow({
  row,
  position,
  top,
  isActive,
  isOpen,
  onOpen,
}: {
  readonly row: SampleRow | undefined;
  /** Its position in the list. */
  readonly position: number;
  /** Pixels from the first row. */
  readonly top: number;
  readonly isActive: boolean;
  readonly isOpen: boolean;
  readonly onOpen: (position: number) => void;
}) {
  const name = `samples-row samples-body-row${isActive ? ' is-active' : ''}${isOpen ? ' is-open' : ''}`;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a real table cannot draw only some of its rows
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
    <div
      role="row"
      id={rowId(position)}
      aria-rowindex={position + 2}
      aria-selected={isOpen}
      class={name}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onOpen(position)}
    >
      {row === undefined ? (
        <Cell name="waiting" text="…" />
      ) : (
        <>
          <Cell name="step" text={String(row.step)} />
          <Cell name="score" text={formatNumber(row.score, 3)} />
          <Cell name="kl" text={formatNumber(row.kl, 3)} />
          <LengthCell row={row} />
          <Cell name="prompt" text={oneLine(row.prompt, LINE_LIMIT)} />
          <Cell name="response" text={oneLine(row.response, LINE_LIMIT)} />
        </>
      )}
    </div>
  );
}

export function rowId(position: number): string {
  return `samples-row-${position}`;
}

/** How a response ended, in a word. */
export function describeEnd({ finished }: Pick<SampleRow, 'finished'>): string {
  return finished ? 'finished' : 'truncated';
}

function LengthCell({ row }: { readonly row: SampleRow }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a real table cannot draw only some of its rows
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
    <div role="gridcell" class="samples-cell samples-length">
      {row.length}
      <span class="samples-end" role="img" aria-label={describeEnd(row)} title={describeEnd(row)}>
        {row.finished ? '■' : '✂'}
      </span>
    </div>
  );
}

function Cell({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a real table cannot draw only some of its rows
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
    <div role="gridcell" class={`samples-cell samples-${name}`} dir="auto">
      {text}
    </div>
  );
}
