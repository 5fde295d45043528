import type { DashboardSource, RunSummary } from '../../api.ts';
import { useLoaded } from '../shell/hooks.ts';

interface EmptyProps {
  readonly source: DashboardSource;
  readonly run: RunSummary;
  readonly explain: (run: RunSummary, config: Readonly<Record<string, unknown>>) => string;
}

/** Why a page has nothing to show. */
export function Empty({ source, run, explain }: EmptyProps) {
  const { value, error } = useLoaded(run.id, () => source.config(run.id));
  if (error !== undefined) return <p role="alert">{error}</p>;
  return <p class="samples-empty">{value === undefined ? 'Loading…' : explain(run, value)}</p>;
}
