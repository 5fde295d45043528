import './header.css';
import type { Connection, DashboardState } from '../dashboard-state.ts';
import { formatRoute } from './route.ts';
import { nextTheme, theme } from './theme.ts';

interface HeaderProps {
  readonly state: DashboardState;
  readonly onHelp: () => void;
}

/** The header: name, run, pages, connection, theme and help. */
export function Header({ state, onHelp }: HeaderProps) {
  return (
    <header class="header">
      <Brand href="#/" />
      <RunSelect state={state} />
      <Pages state={state} />
      <div class="header-tools">
        <ConnectionState connection={describeConnection(state)} />
        <ThemeButton />
        <button type="button" aria-label="Keyboard help" title="Keyboard help (?)" onClick={onHelp}>
          ?
        </button>
      </div>
    </header>
  );
}

/** The name of the program, as a link. */
export function Brand({ href }: { readonly href: string }) {
  return (
    <a class="brand" href={href}>
      <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
        <path d="M4 27 17 9h11" />
        <path class="ground" d="M4 5v22h24" />
      </svg>
      Proximal
    </a>
  );
}

function RunSelect({ state }: { state: DashboardState }) {
  const runs = state.names.value;
  const chosen = state.runId.value;
  const { page } = state.route.value;
  return (
    <select
      class="run-select"
      aria-label="Run"
      value={chosen}
      disabled={runs.length === 0}
      onChange={(event) => {
        const run = event.currentTarget.value;
        const showsSamples = page === 'samples' || page === 'tokens';
        location.hash = showsSamples
          ? formatRoute({ page: 'samples', run })
          : state.overviewOf(run);
      }}
    >
      {runs.length === 0 && <option>no runs yet</option>}
      {runs.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

function Pages({ state }: { state: DashboardState }) {
  const run = state.runId.value;
  const { page } = state.route.value;
  // A report has one run and no one to label it.
  const isLive = state.source.live !== undefined;
  const pages = [
    {
      title: 'Overview',
      href: state.overviewOf(run),
      isCurrent: page === 'overview',
    },
    ...(isLive ? [{ title: 'Runs', href: '#/runs', isCurrent: page === 'runs' }] : []),
    {
      title: 'Samples',
      // Disabled until there is a run.
      href: run === undefined ? undefined : formatRoute({ page: 'samples', run }),
      isCurrent: page === 'samples' || page === 'tokens',
    },
    ...(isLive ? [{ title: 'Label', href: '#/label', isCurrent: page === 'label' }] : []),
  ];
  return (
    <nav aria-label="Pages">
      {pages.map(({ title, href, isCurrent }) =>
        href === undefined ? (
          <span key={title}>{title}</span>
        ) : (
          <a key={title} href={href} aria-current={isCurrent ? 'page' : undefined}>
            {title}
          </a>
        ),
      )}
    </nav>
  );
}

const themeSigns = { system: '◐', light: '☀', dark: '☾' } as const;

/** Switches between the themes. */
export function ThemeButton() {
  const now = theme.value;
  const next = nextTheme(now);
  return (
    <button
      type="button"
      aria-label={`Theme: ${now}; change to ${next}`}
      title={`Theme: ${now}`}
      onClick={() => {
        theme.value = next;
      }}
    >
      <span aria-hidden="true">{themeSigns[now]}</span>
    </button>
  );
}

/** A connection is `live` only while there is something to follow. */
function describeConnection({ connection, hasActiveRun }: DashboardState): ShownConnection {
  if (connection.value !== 'live') return connection.value;
  return hasActiveRun.value ? 'live' : 'connected';
}

type ShownConnection = Connection | 'connected';

const states: Readonly<Record<ShownConnection, { word: string; tone: string; hint: string }>> = {
  connecting: { word: 'connecting…', tone: 'quiet', hint: 'Connecting to the server' },
  live: { word: 'live', tone: 'good', hint: 'The page updates as runs progress' },
  connected: {
    word: 'connected',
    tone: 'quiet',
    hint: 'No run is active; new ones appear automatically',
  },
  lost: {
    word: 'reconnecting…',
    tone: 'warn',
    hint: 'The server does not respond; the page keeps trying',
  },
  report: { word: 'report', tone: 'quiet', hint: 'A report: a file that contains all its data' },
};

/** The state of the connection to the server. */
function ConnectionState({ connection }: { connection: ShownConnection }) {
  const { word, tone, hint } = states[connection];
  return (
    <span class={`connection tone-${tone}`} role="status" title={hint}>
      {word}
    </span>
  );
}
