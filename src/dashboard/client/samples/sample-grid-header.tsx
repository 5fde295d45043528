import { nextSort, type SampleSort, type SortKey } from './sample-query.ts';

const columns: readonly { readonly label: string; readonly key?: SortKey }[] = [
  { label: 'Step', key: 'step' },
  { label: 'Score', key: 'score' },
  { label: 'KL', key: 'kl' },
  { label: 'Length', key: 'length' },
  { label: 'Prompt' },
  { label: 'Response' },
];

/** Titles of the columns; a click on one sorts by it. */
export function SampleGridHeader({
  sort,
  onSort,
}: {
  readonly sort: SampleSort;
  readonly onSort: (sort: SampleSort) => void;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a table cannot be drawn in part
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
}: {
  readonly label: string;
  readonly sortKey: SortKey | undefined;
  readonly sort: SampleSort;
  readonly onSort: (sort: SampleSort) => void;
}) {
  const name = `samples-cell samples-${label.toLowerCase()}`;
  if (sortKey === undefined) {
    return (
      // biome-ignore lint/a11y/useSemanticElements: rows of a table cannot be drawn in part
      // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
      <div role="columnheader" class={name}>
        {label}
      </div>
    );
  }
  const isSorted = sort.sort === sortKey;
  const direction = sort.order === 'asc' ? 'ascending' : 'descending';
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a table cannot be drawn in part
    // biome-ignore lint/a11y/useFocusableInteractive: its button has the focus
    <div role="columnheader" aria-sort={isSorted ? direction : 'none'} class={name}>
      <button type="button" class="samples-sort" onClick={() => onSort(nextSort(sort, sortKey))}>
        {label}
        <span aria-hidden="true">{isSorted ? (sort.order === 'asc' ? ' ▲' : ' ▼') : ''}</span>
      </button>
    </div>
  );
}
