import type { Phase, TrainEvent } from '../../ppo-trainer/events.ts';
import type { Metrics } from '../../ppo-trainer/records.ts';
import { dim, type Output } from '../terminal.ts';
import { formatSeconds } from '../units.ts';
import { shorten } from './shorten.ts';
import { describeEvaluation, describeMetrics } from './step-line.ts';

export interface TrainViewOptions {
  /** Standard error by default. */
  readonly output?: Output;
  /** The time in milliseconds. */
  readonly now?: () => number;
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
  private start = { time: 0, step: 0 };
  private totalSteps = 0;
  private step = 0;
  private metrics: Metrics | undefined;
  private phase: Phase | undefined;
  private writtenAt = Number.NEGATIVE_INFINITY;
  private isShown = false;

  constructor({ output = process.stderr, now = () => performance.now() }: TrainViewOptions = {}) {
    this.output = output;
    this.now = now;
  }

  handle(event: TrainEvent): void {
    if (event.type === 'run-start') this.begin(event);
    else if (event.type === 'phase') this.showPhase(event);
    else if (event.type === 'step') this.showStep(event);
    else if (event.type === 'evaluation') {
      const parts = [this.label(event.step), 'evaluation', ...describeEvaluation(event.report)];
      this.print(fit(parts, this.width()));
    } else if (event.type === 'checkpoint') {
      const best = event.isBest ? ', the best so far' : '';
      const line = `${this.label(event.step)}  saved ${shorten(event.folder)}${best}`;
      this.print(dim(line, this.output));
    } else if (event.type === 'warning') this.print(`Warning: ${event.message}`);
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

  private showStep({ step, metrics }: Event<'step'>): void {
    this.step = step;
    this.metrics = metrics;
    if (this.output.isTTY) return;
    const interval = Math.ceil(this.totalSteps / MOST_LINES);
    if (step % interval !== 0 && step !== this.totalSteps) return;
    const parts = [this.label(step), ...describeMetrics(metrics), ...this.timeLeft()];
    this.print(parts.join('  '));
  }

  private showPhase({ step, phase, done, total }: Event<'phase'>): void {
    if (!this.output.isTTY) return;
    const time = this.now();
    if (phase === this.phase && time - this.writtenAt < INTERVAL) return;
    this.phase = phase;
    this.writtenAt = time;
    const known = this.metrics === undefined ? [] : describeMetrics(this.metrics);
    const start = `${this.label(step)}  ${phase.padEnd(8)} `;
    const width = this.width();
    const bar = drawBar(total === 0 ? 1 : done / total, width - start.length);
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
