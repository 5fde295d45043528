import { join, sep } from 'node:path';
import type { Phase, TrainEvent } from '../../loop/events.ts';
import type { Metrics } from '../../loop/records.ts';
import { stripControls } from '../strip-controls.ts';
import { dim, type Output } from '../terminal.ts';
import { formatSeconds } from '../units.ts';
import { shorten } from './shorten.ts';
import { describeEvaluation, describeMetrics } from './step-line.ts';

export interface TrainViewOptions {
  /** Standard error by default. */
  readonly output?: Output;
  /** The time in milliseconds. */
  readonly now?: () => number;
  /** What is worth seeing of a step's metrics, where steps have no phases; as PPO has it if not given. */
  readonly describeStep?: (metrics: Metrics) => string[];
}

type Event<T extends TrainEvent['type']> = Extract<TrainEvent, { type: T }>;

const WIDEST_BAR = 10;
/** Milliseconds between two changes of the line. */
const INTERVAL = 100;
/** Lines that a long run writes for its steps where there is no terminal. */
const MOST_LINES = 200;

/** Shows a run as it goes: on a terminal as one line that changes under lines for what matters,
 *  elsewhere as a line for each step, or for some of very many. */
export class TrainView {
  private readonly output: Output;
  private readonly now: () => number;
  private readonly hasPhases: boolean;
  private readonly describe: (metrics: Metrics) => string[];
  private start = { time: 0, step: 0 };
  /** When the run paused; undefined while it goes. */
  private pausedAt: number | undefined;
  private totalSteps = 0;
  private step = 0;
  private metrics: Metrics | undefined;
  private phase: Phase | undefined;
  private writtenAt = Number.NEGATIVE_INFINITY;
  private isShown = false;

  constructor(options: TrainViewOptions = {}) {
    const { output = process.stderr, now = () => performance.now(), describeStep } = options;
    this.output = output;
    this.now = now;
    this.hasPhases = describeStep === undefined;
    this.describe = describeStep ?? describeMetrics;
  }

  handle(event: TrainEvent): void {
    if (event.type === 'run-start') this.begin(event);
    else if (event.type === 'phase') this.showPhase(event);
    else if (event.type === 'step') this.showStep(event);
    else if (event.type === 'evaluation') {
      const { report, metrics } = event;
      const parts = report
        ? ['evaluation', ...describeEvaluation(report)]
        : ['validation', ...this.describe(metrics)];
      this.print(fit([this.label(event.step), ...parts], this.width()));
    } else if (event.type === 'checkpoint') {
      const best = event.isBest ? ', the best so far' : '';
      const line = `${this.label(event.step)}  saved ${shorten(event.folder)}${best}`;
      this.print(dim(line, this.output));
    } else if (event.type === 'plan') this.print(event.message);
    else if (event.type === 'warning')
      this.print(`Warning: ${fromHere(stripControls(event.message))}`);
    else if (event.type === 'control') this.followPause(event);
    else if (event.type === 'run-end') this.clear();
  }

  /** A line that stays. */
  print(line: string): void {
    this.clear();
    this.output.write(`${line}\n`);
  }

  /** Takes the changing line away. */
  clear(): void {
    if (this.isShown) this.output.write('\r\x1b[K');
    this.isShown = false;
  }

  private begin({ step, totalSteps }: Event<'run-start'>): void {
    this.start = { time: this.now(), step };
    this.step = step;
    this.totalSteps = totalSteps;
    if (step > 0) this.print(`Going on after step ${step} of ${totalSteps}`);
  }

  /** A pause is as if the run had begun later: it says nothing of how long steps take. Waiting for
   *  people does, as every step waits for them. */
  private followPause({ status }: Event<'control'>): void {
    if (status === 'paused') this.pausedAt = this.now();
    else if (this.pausedAt !== undefined) {
      this.start = { ...this.start, time: this.start.time + this.now() - this.pausedAt };
      this.pausedAt = undefined;
    }
  }

  private showStep({ step, metrics }: Event<'step'>): void {
    this.step = step;
    this.metrics = metrics;
    if (this.output.isTTY) {
      if (!this.hasPhases) this.draw(`${this.label(step)}  `, step / this.totalSteps);
      return;
    }
    const interval = Math.ceil(this.totalSteps / MOST_LINES);
    if (step % interval !== 0 && step !== this.totalSteps) return;
    const parts = [this.label(step), ...this.describe(metrics), ...this.timeLeft()];
    this.print(parts.join('  '));
  }

  private showPhase({ step, phase, done, total }: Event<'phase'>): void {
    if (!this.output.isTTY) return;
    if (phase !== this.phase) this.writtenAt = Number.NEGATIVE_INFINITY;
    this.phase = phase;
    this.draw(`${this.label(step)}  ${phase.padEnd(8)} `, total === 0 ? 1 : done / total);
  }

  /** The line that changes, but not too often. */
  private draw(start: string, part: number): void {
    const time = this.now();
    if (time - this.writtenAt < INTERVAL) return;
    this.writtenAt = time;
    const known = this.metrics === undefined ? [] : this.describe(this.metrics);
    const width = this.width();
    const bar = drawBar(part, width - start.length);
    this.output.write(`\r\x1b[K${fit([start + bar, ...this.timeLeft(), ...known], width)}`);
    this.isShown = true;
  }

  /** A line that fills the terminal would wrap, and then it could not be taken away. */
  private width(): number {
    return this.output.isTTY ? (this.output.columns || 80) - 1 : Infinity;
  }

  /** @example 'step  7/40' */
  private label(step: number): string {
    const whole = String(this.totalSteps);
    return `step ${String(step).padStart(whole.length)}/${whole}`;
  }

  /** What the steps so far promise, evaluations and checkpoints included. */
  private timeLeft(): string[] {
    const made = this.step - this.start.step;
    const left = this.totalSteps - this.step;
    if (made === 0 || left === 0) return [];
    const seconds = ((this.now() - this.start.time) / 1000 / made) * left;
    return [`${formatSeconds(seconds)} left`];
  }
}

/** A text whose paths begin in this folder. */
function fromHere(text: string): string {
  return text.replaceAll(join(process.cwd(), sep), '');
}

/** As many parts as there is room for. */
function fit(parts: readonly string[], width: number): string {
  let line = '';
  for (const part of parts) {
    const longer = line === '' ? part : `${line}  ${part}`;
    if (longer.length > width) break;
    line = longer;
  }
  return line === '' ? (parts[0] ?? '').slice(0, width) : line;
}

function drawBar(part: number, room: number): string {
  const width = Math.max(0, Math.min(room, WIDEST_BAR));
  const filled = Math.round(width * part);
  return '━'.repeat(filled) + '─'.repeat(width - filled);
}
