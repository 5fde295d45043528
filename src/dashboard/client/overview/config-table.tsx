import { useState } from 'preact/hooks';
import { LineSwatch } from '../charts/chart-legend.tsx';
import { type ConfigRow, compareConfigs } from './config-diff.ts';
import './config-table.css';

interface RunConfig {
  readonly id: string;
  readonly name: string;
  /** Index of its colour in the charts; undefined if there are none. */
  readonly colour?: number | undefined;
  readonly config: Readonly<Record<string, unknown>>;
}

/** The settings of the drawn runs side by side; differences are highlighted. */
export function ConfigTable({ runs }: { runs: readonly RunConfig[] }) {
  const [onlyDifferences, setOnlyDifferences] = useState(true);
  const rows = compareConfigs(runs.map(({ config }) => config));
  const hasSeveralRuns = runs.length > 1;
  const different = rows.filter(({ differs }) => differs);
  return (
    <section class="panel config" aria-label="Config">
      <h2>
        Config
        <span class="count">
          {rows.length} settings{hasSeveralRuns && `, ${different.length} differ`}
        </span>
        {hasSeveralRuns && (
          <label>
            <input
              type="checkbox"
              checked={onlyDifferences}
              onChange={(event) => setOnlyDifferences(event.currentTarget.checked)}
            />
            Only differences
          </label>
        )}
      </h2>
      <Settings runs={runs} rows={hasSeveralRuns && onlyDifferences ? different : rows} />
    </section>
  );
}

function Settings({ runs, rows }: { runs: readonly RunConfig[]; rows: readonly ConfigRow[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
    <section class="config-scroll" tabIndex={0} aria-label="Settings">
      <table>
        <thead>
          <tr>
            <th scope="col">setting</th>
            {runs.map(({ id, name, colour }) => (
              <th key={id} scope="col">
                {name} {runs.length > 1 && colour !== undefined && <LineSwatch colour={colour} />}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, values, differs }) => (
            <tr key={key} class={differs ? 'differs' : ''}>
              <th scope="row">
                {key}
                {differs && <span class="visually-hidden"> (differs)</span>}
              </th>
              {runs.map(({ id }, i) => (
                <td key={id}>{values[i] ?? <span class="absent">not set</span>}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
