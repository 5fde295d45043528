import type { Connection } from '../dashboard-state.ts';

const states: Readonly<Record<Connection, { word: string; tone: string; hint: string }>> = {
  connecting: { word: 'connecting…', tone: 'quiet', hint: 'The page asks the server for events' },
  live: { word: 'live', tone: 'good', hint: 'What happens is shown as it happens' },
  lost: {
    word: 'reconnecting…',
    tone: 'warn',
    hint: 'The server does not answer; the page goes on asking',
  },
  report: { word: 'report', tone: 'quiet', hint: 'A file with all that it shows' },
};

/** Whether the page hears from its server. */
export function ConnectionState({ connection }: { connection: Connection }) {
  const { word, tone, hint } = states[connection];
  return (
    <span class={`connection tone-${tone}`} role="status" title={hint}>
      {word}
    </span>
  );
}
