import './runs-page.css';
import { useState } from 'preact/hooks';
import type { RunSummary } from '../../api.ts';
import type { DashboardState } from '../dashboard-state.ts';
import { ConfigTable } from '../overview/config-table.tsx';
import { StatusBadge } from '../overview/run-list.tsx';
import { RunNote } from '../overview/run-note.tsx';
import { formatRoute } from '../shell/route.ts';
import {
  columnsFor,
  newestRunsFirst,
  nextRunSort,
  type RunColumn,
  type RunSort,
  searchRuns,
  sortRuns,
} from './runs-table.ts';

/** All runs with their latest results and notes, and the settings in which the ticked ones differ. */
export function RunsPage({ state }: { state: DashboardState }) {
  const runs = state.runs.value ?? [];
  const [search, setSearch] = useState('');
  const [sort, setSort] = useState(newestRunsFirst);
  const columns = columnsFor(runs);
  const shown = sortRuns(searchRuns(runs, search), { columns, sort });
  const ticked = runs.filter(({ id }) => state.ticked.value.has(id));
  return (
    <div class="runs-page">
      <h1 class="visually-hidden">Runs</h1>
      <div class="runs-tools">
        <input
          type="search"
          aria-label="Search runs"
          placeholder="Search names, notes, kinds and states"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        <p role="status" class="count">
          {shown.length === runs.length
            ? `${runs.length} runs`
            : `${shown.length} of ${runs.length} runs`}
        </p>
        {ticked.length > 1 && <a href={chartsOf(ticked)}>Draw the {ticked.length} ticked runs</a>}
      </div>
      <RunsTable {...{ state, columns, sort, onSort: setSort }} runs={shown} />
      <Differences state={state} runs={ticked} />
    </div>
  );
}

/** URL of the charts of several runs. */
function chartsOf([first, ...others]: readonly RunSummary[]): string {
  const ticked = [first!, ...others].map(({ id }) => id);
  return formatRoute({ page: 'overview', run: first!.id, ticked });
}

interface RunsTableProps {
  readonly state: DashboardState;
  readonly runs: readonly RunSummary[];
  readonly columns: readonly RunColumn[];
  readonly sort: RunSort;
  readonly onSort: (sort: RunSort) => void;
}

function RunsTable({ state, runs, columns, sort, onSort }: RunsTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
    <section class="runs-scroll" tabIndex={0} aria-label="Table of runs">
      <table class="runs-table">
        <thead>
          <tr>
            <th scope="col">
              <span class="visually-hidden">Compare</span>
            </th>
            {columns.map((column) => (
              <SortHeader key={column.key} {...{ column, sort, onSort }} />
            ))}
            <th scope="col">Note</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <RunRow key={run.id} {...{ run, columns, state }} />
          ))}
        </tbody>
      </table>
      {runs.length === 0 && <p class="nothing">No run matches the search.</p>}
    </section>
  );
}

function SortHeader({
  column,
  sort,
  onSort,
}: Pick<RunsTableProps, 'sort' | 'onSort'> & { readonly column: RunColumn }) {
  const isSorted = sort.key === column.key;
  const direction = sort.order === 'asc' ? 'ascending' : 'descending';
  return (
    <th
      scope="col"
      class={column.isNumber ? 'number' : ''}
      aria-sort={isSorted ? direction : 'none'}
      title={column.hint}
    >
      <button type="button" onClick={() => onSort(nextRunSort(sort, column))}>
        {column.title}
        <span aria-hidden="true">{isSorted ? (sort.order === 'asc' ? ' ▲' : ' ▼') : ''}</span>
      </button>
    </th>
  );
}

function RunRow({
  run,
  columns,
  state,
}: Pick<RunsTableProps, 'columns' | 'state'> & { readonly run: RunSummary }) {
  const isTicked = state.ticked.value.has(run.id);
  return (
    <tr class={isTicked ? 'ticked' : ''}>
      <td>
        <input
          type="checkbox"
          aria-label={`Compare ${run.name}`}
          checked={isTicked}
          onChange={(event) => state.tick(run.id, event.currentTarget.checked)}
        />
      </td>
      {columns.map((column) =>
        column.key === 'name' ? (
          <th key={column.key} scope="row">
            <a href={formatRoute({ page: 'overview', run: run.id, ticked: [] })}>{run.name}</a>
          </th>
        ) : (
          <td
            key={column.key}
            class={column.isNumber ? 'number' : ''}
            data-title={column.isNumber ? column.title : undefined}
          >
            {column.key === 'status' ? <StatusBadge status={run.status} /> : column.show(run)}
          </td>
        ),
      )}
      <td class="runs-note">
        <RunNote run={run} live={state.source.live} />
      </td>
    </tr>
  );
}

/** The settings in which the ticked runs differ. */
function Differences({ state, runs }: { state: DashboardState; runs: readonly RunSummary[] }) {
  if (runs.length < 2) {
    return <p class="runs-hint">Tick two or more runs to see the settings in which they differ.</p>;
  }
  const configs = runs.map(({ id, name }) => ({
    ...{ id, name, config: state.dataOf(id).config.value },
  }));
  return <ConfigTable runs={configs} />;
}
