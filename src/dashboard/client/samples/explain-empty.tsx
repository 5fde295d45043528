import type { DashboardSource, RunSummary } from '../../api.ts';
import { commandLine } from '../command-line.ts';
import { isAlive } from '../overview/describe-run.ts';
import { useLoaded } from '../shell/hooks.ts';

type Run = Pick<RunSummary, 'kind' | 'status'>;
type Config = Readonly<Record<string, unknown>>;

interface EmptyProps {
  readonly source: DashboardSource;
  readonly run: RunSummary;
  readonly explain: (run: RunSummary, config: Config) => string;
}

/** Why a page has nothing to show. */
export function Empty({ source, run, explain }: EmptyProps) {
  const { value, error } = useLoaded(run.id, () => source.config(run.id));
  if (error !== undefined) return <p role="alert">{error}</p>;
  return <p class="samples-empty">{value === undefined ? 'Loading…' : explain(run, value)}</p>;
}

/** Why a run has no samples, and where to look instead. */
export function explainNoSamples(run: Run, config: Config): string {
  if (run.kind === 'sft') {
    return `Supervised fine-tuning learns from existing texts and generates none, so this run has no samples. Its loss is on the Overview page. To generate text with the trained model, use "${commandLine('generate')}".`;
  }
  if (run.kind === 'reward') {
    return 'A reward model scores texts and generates none, so this run has no samples. Its accuracy and loss are on the Overview page.';
  }
  if (config.logSamples === 0) {
    return 'This run records no samples, since logSamples is 0. Start runs with a higher logSamples to see their responses here.';
  }
  return isAlive(run)
    ? 'No samples yet: they appear after the first step.'
    : 'No samples: the run ended before its first step was complete.';
}

/** Why a run has no evaluation with responses, and where to look instead. */
export function explainNoComparisons(
  run: Run & Pick<RunSummary, 'counts'>,
  config: Config,
): string {
  if (run.kind !== 'ppo') {
    return 'Evaluations of this kind of run measure held-out data and sample no responses. Their numbers are on the Overview page.';
  }
  if (run.counts.evaluations > 0 && config.logSamples === 0) {
    return 'The evaluations of this run have no responses, since logSamples is 0. Their numbers are on the Overview page.';
  }
  if (isAlive(run)) return 'No evaluation yet: the first one is before the first step.';
  return 'This run was never evaluated. Start runs with validation prompts (validationFile or validationFraction) to compare the policy with the reference here.';
}
