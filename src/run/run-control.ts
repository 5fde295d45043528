import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { TrainEvent } from '../loop/events.ts';
import { type StepControl, StopRequest } from '../loop/step-control.ts';
import type { RunFolder } from './run-folder.ts';
import { isRunAlive } from './run-lock.ts';
import { hasEnded, type RunState, readRunState, stateName } from './run-state.ts';
import { explainSystemError } from './system-error.ts';

/** Pause before the next step, go on, save a checkpoint after this step, end after this step. */
export const runCommands = ['pause', 'resume', 'save', 'stop'] as const;

export type RunCommand = (typeof runCommands)[number];

/** Each is an empty file in the run's folder, which is there or not: it cannot be torn, and asking
 *  twice is asking once. */
const requests = ['pause', 'save', 'stop'] as const satisfies readonly RunCommand[];

/** Tells a living run, in whatever process, what to do. The run takes the requests to save and to
 *  stop away as it heeds them; `resume` takes that to pause away. */
export async function requestControl(folder: string, command: RunCommand): Promise<void> {
  const state = await readRunState(folder);
  if (state === undefined) {
    throw new Error(
      `Cannot ${command} ${folder}: it must hold a run, got no ${stateName}; pass the folder of a run`,
    );
  }
  if (!isRunAlive(folder)) throw describeDead(state, { folder, command });
  if (command === 'resume') rmSync(pathOf(folder, 'pause'), { force: true });
  else writeRequest(folder, command);
}

/** Whether a run is paused, or will be before its next step. */
export function isPauseRequested(folder: string): boolean {
  return existsSync(pathOf(folder, 'pause'));
}

/** Forgets what a killed process did not come to do: the resumed run would end at once. A pause
 *  stays, as whoever asked for it has not taken it back. */
export function forgetRequests(folder: string): void {
  for (const request of ['save', 'stop'] as const) take(folder, request);
}

type Status = Extract<TrainEvent, { type: 'control' }>['status'];

export interface RunControlOptions {
  readonly signal?: AbortSignal | undefined;
  readonly emit: (event: TrainEvent) => Promise<void>;
}

/** Milliseconds between two looks while a run is paused. */
const INTERVAL = 200;

/** Heeds the requests in a run's folder between steps, and has its state tell what it waits for. */
export class RunControl implements StepControl {
  /** Fires as the given one does, and where the run is to stop while it waits for people. */
  readonly signal: AbortSignal;
  private readonly run: RunFolder;
  private readonly emit: RunControlOptions['emit'];
  private readonly stop = new AbortController();
  private step = 0;
  private status: Status = 'running';
  private missing = 0;

  constructor(run: RunFolder, { signal, emit }: RunControlOptions) {
    this.run = run;
    this.emit = emit;
    this.signal = AbortSignal.any(signal ? [signal, this.stop.signal] : [this.stop.signal]);
  }

  /** The step that is being made, from 1. */
  get nextStep(): number {
    return this.step + 1;
  }

  async betweenSteps(step: number): Promise<'continue' | 'save' | 'stop'> {
    const { path } = this.run;
    this.step = step;
    while (!this.signal.aborted) {
      if (take(path, 'stop')) return 'stop';
      if (take(path, 'save')) return 'save';
      if (!isPauseRequested(path)) {
        await this.change('running', `Going on with step ${step + 1}`);
        return 'continue';
      }
      await this.change('paused', `Paused before step ${step + 1} until it is told to resume`);
      await rest(this.signal);
    }
    return 'continue';
  }

  /** To be told now and then of how many human scores a step waits for. Nobody knows when such a
   *  step ends, so a request to stop does not wait for it. */
  async waitForPeople(missing: number): Promise<void> {
    if (missing > 0 && take(this.run.path, 'stop')) this.stop.abort(new StopRequest());
    if (missing === this.missing) return;
    this.missing = missing;
    if (missing === 0) return this.change('running', 'All human scores are given');
    const scores = missing === 1 ? '1 human score' : `${missing} human scores`;
    const message = `Waits for ${scores}: open the Label page (proximal dashboard)`;
    if (this.status === 'waiting') this.run.update({ message });
    else await this.change('waiting', message);
  }

  /** Takes all requests away, as they end with a run that ends in order. */
  close(): void {
    for (const request of requests) take(this.run.path, request);
  }

  private async change(status: Status, message: string): Promise<void> {
    if (status === this.status) return;
    this.status = status;
    this.run.update({ status, message: status === 'running' ? undefined : message });
    await this.emit({ type: 'control', step: this.step, status, message });
  }
}

function pathOf(folder: string, request: (typeof requests)[number]): string {
  return join(folder, `${request}.request`);
}

/** Whether there was a request, which is then gone. */
function take(folder: string, request: (typeof requests)[number]): boolean {
  const path = pathOf(folder, request);
  if (!existsSync(path)) return false;
  rmSync(path, { force: true });
  return true;
}

function writeRequest(folder: string, request: (typeof requests)[number]): void {
  try {
    writeFileSync(pathOf(folder, request), '');
  } catch (error) {
    throw explainSystemError(error, { action: `${request} ${folder}`, next: 'ask again' });
  }
}

/** Waits a moment, or for the signal. */
async function rest(signal: AbortSignal): Promise<void> {
  await setTimeout(INTERVAL, undefined, { signal }).catch(() => {});
}

function describeDead(
  state: RunState,
  { folder, command }: { readonly folder: string; readonly command: RunCommand },
): Error {
  const { status, pid } = state;
  const got = hasEnded(state)
    ? `a run that has ended (${status})`
    : `process ${pid}, which is gone`;
  return new Error(
    `Cannot ${command} ${folder}: it must have a living process, got ${got}; --resume goes on with a run`,
  );
}
