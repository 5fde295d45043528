import type { ControlCommand, RunKindName, RunStatus, RunSummary } from '../../api.ts';

export const kindNames: Readonly<Record<RunKindName, string>> = {
  ppo: 'PPO',
  sft: 'SFT',
  reward: 'reward model',
};

export type Tone = 'active' | 'good' | 'warn' | 'bad' | 'quiet';

/** The name and colour of each status. */
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

/** Why a command cannot be sent to a run; undefined if it can.
 *  @example resume a running run  →  'The run is not paused' */
export function refuseCommand(
  run: Pick<RunSummary, 'status'>,
  command: ControlCommand,
): string | undefined {
  if (!isAlive(run)) return `The run has ended: it is ${statuses[run.status].word}`;
  if (command === 'pause' && run.status === 'paused') return 'The run is already paused';
  if (command === 'resume' && run.status !== 'paused') return 'The run is not paused';
  return undefined;
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
