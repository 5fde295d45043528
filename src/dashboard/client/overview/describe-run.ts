import type { ControlCommand, RunKindName, RunStatus, RunSummary } from '../../api.ts';

export const kindNames: Readonly<Record<RunKindName, string>> = {
  ppo: 'PPO',
  sft: 'SFT',
  reward: 'reward model',
};

export type Tone = 'active' | 'good' | 'warn' | 'bad' | 'quiet';

/** The word for each status and the colour that goes with it. */
export const statuses: Readonly<Record<RunStatus, { word: string; tone: Tone }>> = {
  running: { word: 'running', tone: 'active' },
  paused: { word: 'paused', tone: 'warn' },
  waiting: { word: 'waiting for scores', tone: 'warn' },
  completed: { word: 'completed', tone: 'good' },
  converged: { word: 'converged', tone: 'good' },
  interrupted: { word: 'interrupted', tone: 'quiet' },
  killed: { word: 'killed', tone: 'bad' },
  failed: { word: 'failed', tone: 'bad' },
  collapsed: { word: 'collapsed', tone: 'bad' },
  degraded: { word: 'degraded', tone: 'bad' },
  diverged: { word: 'diverged', tone: 'bad' },
};

export function isAlive({ status }: Pick<RunSummary, 'status'>): boolean {
  return status === 'running' || status === 'paused' || status === 'waiting';
}

/** Why a command makes no sense for a run now; undefined where it does.
 *  @example resume of a running one  →  'The run is not paused' */
export function refuseCommand(
  run: Pick<RunSummary, 'status'>,
  command: ControlCommand,
): string | undefined {
  if (!isAlive(run)) return `The run is not alive: it is ${statuses[run.status].word}`;
  if (command === 'pause' && run.status === 'paused') return 'The run is paused already';
  if (command === 'resume' && run.status !== 'paused') return 'The run is not paused';
  return undefined;
}

/** How far a run has come, from 0 to 1; undefined where its end is not known.
 *  @example step 30 of 120  →  0.25 */
export function progressOf({ step, totalSteps }: Pick<RunSummary, 'step' | 'totalSteps'>) {
  return totalSteps === null || totalSteps === 0 ? undefined : Math.min(1, step / totalSteps);
}

/** Time as people say it, in the two largest units.
 *  @example 42  →  '42 s', 3725  →  '1 h 2 min', 90000  →  '1 d 1 h' */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [minutes, hours, days] = [60, 3600, 86_400].map((unit) => Math.floor(whole / unit));
  if (days! > 0) return `${days} d ${hours! % 24} h`;
  if (hours! > 0) return `${hours} h ${minutes! % 60} min`;
  return minutes! > 0 ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}

const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** When something began, in the reader's own clock; the time as it stands if it is none. */
export function formatTime(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  return timeFormat.format(date);
}
