import { join, sep } from 'node:path';
import type { Phase, TrainEvent } from '../loop/events.ts';
import type { Metrics } from '../loop/records.ts';
import { formatNumber, formatPercent, formatSeconds, shortPath } from './format.ts';
import { StatusLine } from './status-line.ts';
import { dim, type Output, progressBar, stripControls } from './terminal.ts';

/** The metrics shown per step and evaluation, most important first: label, names, format. A run has
 *  those of its kind only. */
const shownMetrics: readonly (readonly [string, readonly string[], (value: number) => string])[] = [
  ['reward', ['objective/scores', 'eval/reward'], formatNumber],
  ['greedy', ['eval/greedy_reward'], formatNumber],
  ['win rate', ['eval/win_rate'], (rate) => `${Math.round(100 * rate)} %`],
  ['KL', ['objective/kl', 'eval/kl'], formatNumber],
  ['entropy', ['policy/entropy_avg', 'eval/entropy'], formatNumber],
  ['length', ['eval/length'], formatNumber],
  ['value EV', ['ppo/val/var_explained'], formatNumber],
  ['loss', ['train/loss', 'eval/loss'], formatNumber],
  ['perplexity', ['eval/perplexity'], formatNumber],
  ['accuracy', ['train/accuracy', 'eval/accuracy'], formatPercent],
  ['margin', ['train/margin', 'eval/margin'], formatNumber],
  ['calibration error', ['eval/calibration'], formatNumber],
];

/** Describes the important metrics of a step or an evaluation.
 *  @example { 'train/loss': 0.5, 'train/accuracy': 0.75, lr: 1 }  →  ['loss 0.500', 'accuracy 75.0 %'] */
export function describeMetrics(metrics: Metrics): string[] {
  const parts = shownMetrics.flatMap(([label, names, format]) => {
    const name = names.find((candidate) => candidate in metrics);
    return name === undefined ? [] : [`${label} ${format(metrics[name]!)}`];
  });
  const speed = metrics['perf/tokens_per_second'];
  return speed === undefined ? parts : [...parts, `${Math.round(speed)} tokens/s`];
}

export interface ProgressViewOptions {
  /** Standard error by default. */
  readonly output?: Output;
  /** The time in milliseconds. */
  readonly now?: () => number;
}

type Event<T extends TrainEvent['type']> = Extract<TrainEvent, { type: T }>;

const MAX_BAR = 10;
/** Milliseconds between two changes of the status line. */
const INTERVAL = 100;
/** Most step lines that a long run prints without a terminal. */
const MAX_LINES = 200;

/** Shows the progress of a run: on a terminal one changing status line below permanent lines for
 *  important events, elsewhere one line per step (or per several steps of a long run). */
export class ProgressView {
  private readonly output: Output;
  private readonly line: StatusLine;
  private readonly now: () => number;
  private start = { time: 0, step: 0 };
  /** When the run paused; undefined while it is running. */
  private pausedAt: number | undefined;
  private totalSteps = 0;
  private step = 0;
  private metrics: Metrics | undefined;
  private phase: Phase | undefined;
  /** Whether the steps of this run report phases. */
  private hasPhases = false;
  private writtenAt = Number.NEGATIVE_INFINITY;

  constructor({
    output = process.stderr,
    now = () => performance.now(),
  }: ProgressViewOptions = {}) {
    this.output = output;
    this.line = new StatusLine(output);
    this.now = now;
  }

  handle(event: TrainEvent): void {
    if (event.type === 'run-start') this.begin(event);
    else if (event.type === 'phase') this.showPhase(event);
    else if (event.type === 'step') this.showStep(event);
    else if (event.type === 'evaluation') {
      const parts = [this.label(event.step), 'evaluation', ...describeMetrics(event.metrics)];
      this.print(joinFitting(parts, this.width()));
    } else if (event.type === 'checkpoint') {
      const best = event.isBest ? ', the best so far' : '';
      const line = `${this.label(event.step)}  saved ${shortPath(event.folder)}${best}`;
      this.print(dim(line, this.output));
    } else if (event.type === 'plan') this.print(event.message);
    else if (event.type === 'warning')
      this.print(`Warning: ${shortenPaths(stripControls(event.message))}`);
    else if (event.type === 'control') this.trackPause(event);
    else if (event.type === 'run-end') this.clear();
  }

  /** Prints a permanent line. */
  print(line: string): void {
    this.clear();
    this.output.write(`${line}\n`);
  }

  /** Removes the status line. */
  clear(): void {
    this.line.clear();
  }

  private begin({ step, totalSteps }: Event<'run-start'>): void {
    this.start = { time: this.now(), step };
    this.step = step;
    this.totalSteps = totalSteps;
    if (step > 0) this.print(`Resuming after step ${step} of ${totalSteps}`);
  }

  /** Excludes pauses from the estimate of the time left. Waiting for people counts, because every step
   *  waits for them. */
  private trackPause({ status }: Event<'control'>): void {
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
    const interval = Math.ceil(this.totalSteps / MAX_LINES);
    if (step % interval !== 0 && step !== this.totalSteps) return;
    const parts = [this.label(step), ...describeMetrics(metrics), ...this.timeLeft()];
    this.print(parts.join('  '));
  }

  private showPhase({ step, phase, done, total }: Event<'phase'>): void {
    if (!this.output.isTTY) return;
    if (phase !== 'evaluate') this.hasPhases = true;
    if (phase !== this.phase) this.writtenAt = Number.NEGATIVE_INFINITY;
    this.phase = phase;
    this.draw(`${this.label(step)}  ${phase.padEnd(8)} `, total === 0 ? 1 : done / total);
  }

  /** Redraws the status line, but not too often. */
  private draw(start: string, fraction: number): void {
    const time = this.now();
    if (time - this.writtenAt < INTERVAL) return;
    this.writtenAt = time;
    const metrics = this.metrics === undefined ? [] : describeMetrics(this.metrics);
    const width = this.width();
    const bar = progressBar(fraction, Math.min(width - start.length, MAX_BAR));
    this.line.show(joinFitting([start + bar, ...this.timeLeft(), ...metrics], width));
  }

  private width(): number {
    return this.output.isTTY ? this.line.width : Infinity;
  }

  /** @example 'step  7/40' */
  private label(step: number): string {
    const total = String(this.totalSteps);
    return `step ${String(step).padStart(total.length)}/${total}`;
  }

  /** Extrapolates from the steps so far, evaluations and checkpoints included. */
  private timeLeft(): string[] {
    const done = this.step - this.start.step;
    const left = this.totalSteps - this.step;
    if (done === 0 || left === 0) return [];
    const seconds = ((this.now() - this.start.time) / 1000 / done) * left;
    return [`${formatSeconds(seconds)} left`];
  }
}

/** Makes paths inside the current folder relative. */
function shortenPaths(text: string): string {
  return text.replaceAll(join(process.cwd(), sep), '');
}

/** Joins as many parts as fit. */
function joinFitting(parts: readonly string[], width: number): string {
  let line = '';
  for (const part of parts) {
    const longer = line === '' ? part : `${line}  ${part}`;
    if (longer.length > width) break;
    line = longer;
  }
  return line === '' ? (parts[0] ?? '').slice(0, width) : line;
}
