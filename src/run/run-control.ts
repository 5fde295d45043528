import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { explainSystemError } from '../fs/index.ts';
import type { TrainEvent } from '../loop/events.ts';
import { type StepControl, StopRequest } from '../loop/step-control.ts';
import type { RunFolder } from './run-folder.ts';
import { isRunAlive } from './run-lock.ts';
import { hasEnded, type RunState, readRunState, stateName } from './run-state.ts';

/** Pause before the next step, continue, save a checkpoint after this step, stop after this step. */
export const runCommands = ['pause', 'resume', 'save', 'stop'] as const;

/** What can be requested of a running run. */
export type RunCommand = (typeof runCommands)[number];

/** Each request is an empty file in the run's folder, so it cannot be half written and repeating it has
 *  no effect. */
const requests = ['pause', 'save', 'stop'] as const satisfies readonly RunCommand[];

/** Asks a live run, in any process, to do something. The run clears a save or stop request once it has
 *  handled it; `resume` clears a pause request. */
export async function requestControl(folder: string, command: RunCommand): Promise<void> {
  const state = await readRunState(folder);
  if (state === undefined) {
    throw new Error(
      `Cannot ${command} ${folder}: it must contain a run, got no ${stateName}; pass the folder of a run`,
    );
  }
  if (!isRunAlive(folder)) throw describeDeadRun(state, { folder, command });
  if (command === 'resume') rmSync(requestPath(folder, 'pause'), { force: true });
  else writeRequest(folder, command);
}

/** Whether a run is paused or will pause before its next step. */
export function isPauseRequested(folder: string): boolean {
  return existsSync(requestPath(folder, 'pause'));
}

/** Clears requests that a killed process never handled; a resumed run would stop immediately. A pause
 *  request stays until it is withdrawn. */
export function clearRequests(folder: string): void {
  for (const request of ['save', 'stop'] as const) takeRequest(folder, request);
}

type Status = Extract<TrainEvent, { type: 'control' }>['status'];

export interface RunControlOptions {
  readonly signal?: AbortSignal | undefined;
  readonly emit: (event: TrainEvent) => Promise<void>;
}

/** Milliseconds between checks while a run is paused. */
const PAUSE_INTERVAL = 200;

/** Handles the requests in a run's folder between steps, and shows in its state what it is waiting for. */
export class RunControl implements StepControl {
  /** Aborts with the caller's signal, and on a stop request while the run waits for people. */
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

  /** The number of the step in progress, from 1. */
  get nextStep(): number {
    return this.step + 1;
  }

  async betweenSteps(step: number): Promise<'continue' | 'save' | 'stop'> {
    const { path } = this.run;
    this.step = step;
    while (!this.signal.aborted) {
      if (takeRequest(path, 'stop')) return 'stop';
      if (takeRequest(path, 'save')) return 'save';
      if (!isPauseRequested(path)) {
        await this.change('running', `Continuing with step ${step + 1}`);
        return 'continue';
      }
      await this.change('paused', `Paused before step ${step + 1}`);
      await sleep(this.signal);
    }
    return 'continue';
  }

  /** Call this regularly with the number of human scores that the step is waiting for. Such a wait has
   *  no known end, so a stop request interrupts it. */
  async reportMissingScores(missing: number): Promise<void> {
    if (missing > 0 && takeRequest(this.run.path, 'stop')) this.stop.abort(new StopRequest());
    if (missing === this.missing) return;
    this.missing = missing;
    if (missing === 0) return this.change('running', 'All human scores have arrived');
    const scores = missing === 1 ? '1 human score' : `${missing} human scores`;
    const message = `Waiting for ${scores} on the Label page`;
    if (this.status === 'waiting') this.run.update({ message });
    else await this.change('waiting', message);
  }

  /** Clears all requests when the run ends. */
  close(): void {
    for (const request of requests) takeRequest(this.run.path, request);
  }

  private async change(status: Status, message: string): Promise<void> {
    if (status === this.status) return;
    this.status = status;
    this.run.update({ status, message: status === 'running' ? undefined : message });
    await this.emit({ type: 'control', step: this.step, status, message });
  }
}

function requestPath(folder: string, request: (typeof requests)[number]): string {
  return join(folder, `${request}.request`);
}

/** Clears a request. Returns whether there was one. */
function takeRequest(folder: string, request: (typeof requests)[number]): boolean {
  const path = requestPath(folder, request);
  if (!existsSync(path)) return false;
  rmSync(path, { force: true });
  return true;
}

function writeRequest(folder: string, request: (typeof requests)[number]): void {
  try {
    writeFileSync(requestPath(folder, request), '');
  } catch (error) {
    throw explainSystemError(error, { action: `${request} ${folder}`, next: 'try again' });
  }
}

/** Waits a moment; the signal ends the wait early. */
async function sleep(signal: AbortSignal): Promise<void> {
  await setTimeout(PAUSE_INTERVAL, undefined, { signal }).catch(() => {});
}

function describeDeadRun(
  state: RunState,
  { folder, command }: { readonly folder: string; readonly command: RunCommand },
): Error {
  const { status, pid } = state;
  const got = hasEnded(state)
    ? `a run that has ended (${status})`
    : `process ${pid}, which is gone`;
  return new Error(
    `Cannot ${command} ${folder}: its process must be running, got ${got}; continue the run with --resume`,
  );
}
