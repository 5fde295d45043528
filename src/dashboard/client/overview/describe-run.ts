import type { ControlCommand, RunKindName, RunStatus, RunSummary } from '../../api.ts';

export const kindNames: Readonly<Record<RunKindName, string>> = {
  ppo: 'PPO',
  sft: 'SFT',
  reward: 'reward model',
};

export type Tone = 'active' | 'good' | 'warn' | 'bad' | 'quiet';

/** A status in words. */
interface StatusWords {
  /** Next to the run's name. */
  readonly word: string;
  /** After `the run`. */
  readonly clause: string;
  readonly tone: Tone;
}

/** The name and colour of each status. */
export const statuses: Readonly<Record<RunStatus, StatusWords>> = {
  running: { word: 'running', clause: 'is running', tone: 'active' },
  paused: { word: 'paused', clause: 'is paused', tone: 'warn' },
  waiting: { word: 'waiting for scores', clause: 'is waiting for scores', tone: 'warn' },
  completed: { word: 'completed', clause: 'is complete', tone: 'good' },
  converged: { word: 'converged', clause: 'has converged', tone: 'good' },
  interrupted: { word: 'interrupted', clause: 'was interrupted', tone: 'quiet' },
  killed: { word: 'killed', clause: 'was killed', tone: 'bad' },
  failed: { word: 'failed', clause: 'has failed', tone: 'bad' },
  collapsed: { word: 'collapsed', clause: 'has collapsed', tone: 'bad' },
  degraded: { word: 'degraded', clause: 'has degraded', tone: 'bad' },
  diverged: { word: 'diverged', clause: 'has diverged', tone: 'bad' },
};

export function isAlive({ status }: Pick<RunSummary, 'status'>): boolean {
  return status === 'running' || status === 'paused' || status === 'waiting';
}

/** The commands that make sense for a run in its state; none if it has ended.
 *  @example a paused run  →  resume, save, stop */
export function commandsFor(run: Pick<RunSummary, 'status'>): readonly ControlCommand[] {
  if (!isAlive(run)) return [];
  return [run.status === 'paused' ? 'resume' : 'pause', 'save', 'stop'];
}

/** Why a run has no metrics to draw. */
export function explainNoMetrics(run: Pick<RunSummary, 'status'>): string {
  if (!isAlive(run)) return 'No metrics: the run ended before its first step was complete.';
  return run.status === 'running'
    ? 'No metrics yet: the first step is running.'
    : `No metrics yet: the run ${statuses[run.status].clause} before its first step.`;
}

/** Progress of a run from 0 to 1; undefined if its length is unknown.
 *  @example step 30 of 120  →  0.25 */
export function progressOf({ step, totalSteps }: Pick<RunSummary, 'step' | 'totalSteps'>) {
  return totalSteps === null || totalSteps === 0 ? undefined : Math.min(1, step / totalSteps);
}

/** A duration in its two largest units.
 *  @example 42  →  '42 s', 3725  →  '1 h 2 min', 90000  →  '1 d 1 h' */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [minutes, hours, days] = [60, 3600, 86_400].map((unit) => Math.floor(whole / unit));
  if (days! > 0) return `${days} d ${hours! % 24} h`;
  if (hours! > 0) return `${hours} h ${minutes! % 60} min`;
  return minutes! > 0 ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}

const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** A time in the reader's locale; unchanged if it cannot be parsed. */
export function formatTime(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  return timeFormat.format(date);
}
