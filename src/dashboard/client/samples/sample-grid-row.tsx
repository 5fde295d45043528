import type { SampleRow } from '../../api.ts';
import { formatFixed, oneLine } from '../format.ts';
import { nextSort, type SampleSort, type SortKey } from './sample-filters.tsx';

interface Column {
  readonly label: string;
  readonly key?: SortKey;
  /** Whether it is the score of a reward source. */
  readonly isSource?: boolean;
}

const firstColumns: readonly Column[] = [
  { label: 'Step', key: 'step' },
  { label: 'Score', key: 'score' },
];

const lastColumns: readonly Column[] = [
  { label: 'KL', key: 'kl' },
  { label: 'Length', key: 'length' },
  { label: 'Prompt' },
  { label: 'Response' },
];

interface SortProps {
  readonly sort: SampleSort;
  readonly onSort: (sort: SampleSort) => void;
}

/** The reward sources of a sample if it has several; the score is that of a single one. */
export function sourcesOf({ sourceScores }: Pick<SampleRow, 'sourceScores'>): string[] {
  const names = Object.keys(sourceScores ?? {});
  return names.length > 1 ? names : [];
}

/** Column headers; a click on one sorts by it. */
export function SampleGridHeader({
  sort,
  onSort,
  sources,
}: SortProps & { readonly sources: readonly string[] }) {
  const columns: readonly Column[] = [
    ...firstColumns,
    ...sources.map((label) => ({ label, isSource: true })),
    ...lastColumns,
  ];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a real table cannot draw only some of its rows
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
    <div role="row" aria-rowindex={1} class="samples-row samples-head">
      {columns.map(({ label, key, isSource }) => (
        <HeaderCell
          key={isSource ? `source ${label}` : label}
          label={label}
          name={isSource ? 'source' : label.toLowerCase()}
          sortKey={key}
          sort={sort}
          onSort={onSort}
        />
      ))}
    </div>
  );
}

function HeaderCell({
  label,
  name: column,
  sortKey,
  sort,
  onSort,
}: SortProps & {
  readonly label: string;
  readonly name: string;
  readonly sortKey: SortKey | undefined;
}) {
  const name = `samples-cell samples-${column}`;
  if (sortKey === undefined) {
    return (
      // biome-ignore lint/a11y/useSemanticElements: a real table cannot draw only some of its rows
      // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
      <div role="columnheader" class={name} title={label}>
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
  sources,
  position,
  top,
  isActive,
  isOpen,
  onOpen,
}: {
  readonly row: SampleRow | undefined;
  /** Reward sources that have a column. */
  readonly sources: readonly string[];
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
          <Cell name="score" text={formatFixed(row.score, 3)} />
          {sources.map((source) => (
            <Cell key={source} name="source" text={formatFixed(row.sourceScores?.[source], 3)} />
          ))}
          <Cell name="kl" text={formatFixed(row.kl, 3)} />
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
export function describeEnd({ finished }: Pick<SampleRow, 'finished'>): keyof typeof marks {
  return finished ? 'finished' : 'truncated';
}

const marks = { finished: '■', truncated: '✂' } as const;

/** What the marks in the list mean. */
export function SampleMarks() {
  return (
    <p class="samples-marks">
      <span>
        <span aria-hidden="true">{marks.finished}</span> finished
      </span>
      <span>
        <span aria-hidden="true">{marks.truncated}</span> truncated: no stop token within
        maxNewTokens
      </span>
    </p>
  );
}

function LengthCell({ row }: { readonly row: SampleRow }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a real table cannot draw only some of its rows
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
    <div role="gridcell" class="samples-cell samples-length">
      {row.length}
      <span class="samples-end" role="img" aria-label={describeEnd(row)} title={describeEnd(row)}>
        {marks[describeEnd(row)]}
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
