import { useState } from 'preact/hooks';
import { LineSwatch } from '../charts/chart-legend.tsx';
import { type ConfigRow, compareConfigs } from './config-diff.ts';
import './config-table.css';

interface ConfigOf {
  readonly id: string;
  readonly name: string;
  readonly colour: number;
  readonly config: Readonly<Record<string, unknown>>;
}

/** The settings of the drawn runs side by side; what differs stands out. */
export function ConfigTable({ runs }: { runs: readonly ConfigOf[] }) {
  const [onlyDifferences, setOnlyDifferences] = useState(false);
  const rows = compareConfigs(runs.map(({ config }) => config));
  const areSeveral = runs.length > 1;
  const different = rows.filter(({ differs }) => differs);
  return (
    <section class="panel config" aria-label="Config">
      <h2>
        Config
        <span class="count">
          {rows.length} settings{areSeveral && `, ${different.length} differ`}
        </span>
        {areSeveral && (
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
      <Settings runs={runs} rows={areSeveral && onlyDifferences ? different : rows} />
    </section>
  );
}

function Settings({ runs, rows }: { runs: readonly ConfigOf[]; rows: readonly ConfigRow[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section class="config-scroll" tabIndex={0} aria-label="Settings">
      <table>
        <thead>
          <tr>
            <th scope="col">setting</th>
            {runs.map(({ id, name, colour }) => (
              <th key={id} scope="col">
                {name} {runs.length > 1 && <LineSwatch colour={colour} />}
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
