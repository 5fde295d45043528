import type { TrainEvent } from '../loop/events.ts';
import type { SampleRecord } from '../loop/records.ts';
import { JsonlWriter, type LogRow } from './log-files.ts';
import { countedLogs, type LogRows, writeLogRows } from './log-rows.ts';
import type { RunFolder } from './run-folder.ts';
import { EventWriter } from './tensorboard.ts';

type StepEvent = Extract<TrainEvent, { type: 'step' }>;
type EvaluationEvent = Extract<TrainEvent, { type: 'evaluation' }>;

/** Writes the events of a run to disk: metrics, samples and evaluations as JSONL and for TensorBoard,
 *  tokens as JSONL, and the run's log and state. NaN and infinities are null in JSONL and kept in
 *  TensorBoard. */
export class MetricSink {
  private readonly run: RunFolder;
  private readonly metrics: JsonlWriter;
  private readonly samples: JsonlWriter;
  private readonly tokens: JsonlWriter;
  private readonly evaluations: JsonlWriter;
  private readonly events: EventWriter;

  constructor(run: RunFolder) {
    this.run = run;
    this.metrics = new JsonlWriter(run.paths.metrics);
    this.samples = new JsonlWriter(run.paths.samples);
    this.tokens = new JsonlWriter(run.paths.tokens);
    this.evaluations = new JsonlWriter(run.paths.evaluations);
    this.events = new EventWriter(run.paths.events, { resumedStep: run.resumedStep });
  }

  /** Saves a checkpoint. The logs that it relies on are flushed to disk before, and it records their
   *  numbers of rows: a run never resumes after rows that a power cut has removed. */
  async saveCheckpoint(
    write: (folder: string) => Promise<void>,
    { step, isBest }: { readonly step: number; readonly isBest: boolean },
  ): Promise<string> {
    this.sync();
    const rows = this.rows();
    const writeAll = async (folder: string) => {
      await write(folder);
      await writeLogRows(folder, rows);
    };
    return this.run.checkpoints.save(step, writeAll, { isBest });
  }

  /** Writes one event. */
  handle(event: TrainEvent): void {
    const { run } = this;
    const { type, step } = event;
    if (type === 'run-start') {
      run.update({ totalSteps: event.totalSteps });
      run.log(describeStart(run, event));
    } else if (type === 'phase') {
      const { phase, done, total } = event;
      run.showPhase({ phase, done, total });
    } else if (type === 'step') this.writeStep(event);
    else if (type === 'evaluation') this.writeEvaluation(event);
    else if (type === 'checkpoint') {
      const best = event.isBest ? ', the best so far' : '';
      run.log({ type, step, message: `Saved a checkpoint after step ${step}${best}` });
    } else if (type === 'plan' || type === 'warning' || type === 'control') {
      // Events before a resumed run continues carry step 0.
      run.log({ type, step: Math.max(step, run.state.step), message: event.message });
    } else if (type === 'run-end') {
      this.sync();
      run.update({ step, status: event.reason, message: event.message });
    }
  }

  /** May be called twice. The run's folder stays open. */
  close(): void {
    for (const file of this.files()) file.close();
  }

  private writeStep({ step, epoch, metrics, samples, tokens }: StepEvent): void {
    this.metrics.append({ step, epoch, ...metrics });
    for (const sample of samples) this.samples.append(sample);
    for (const record of tokens) this.tokens.append(record);
    const texts = samples.length > 0 ? { samples: samples.map(describeSample) } : {};
    this.events.write(step, { scalars: metrics, texts });
    this.run.update({ step });
  }

  private writeEvaluation({ step, metrics, report }: EvaluationEvent): void {
    this.evaluations.append({ step, ...(report ?? metrics) });
    const rows = (report?.samples ?? []).map(
      (sample) =>
        `${describeSample(sample)}\n\nreference, score ${show(sample.refScore)}\n\n${quote(sample.refResponse)}`,
    );
    this.events.write(step, {
      scalars: metrics,
      texts: rows.length > 0 ? { 'eval/samples': rows } : {},
    });
  }

  /** Rows in the logs, including those from before the run was resumed. */
  private rows(): LogRows {
    const rows = { ...this.run.resumedRows };
    for (const log of countedLogs) rows[log] += this[log].rows;
    return rows;
  }

  private sync(): void {
    for (const file of this.files()) file.sync();
  }

  private files(): readonly (JsonlWriter | EventWriter)[] {
    return [this.metrics, this.samples, this.tokens, this.evaluations, this.events];
  }
}

/** The log row for the start of a new or resumed run. */
function describeStart(
  run: RunFolder,
  { step, totalSteps }: Extract<TrainEvent, { type: 'run-start' }>,
): Omit<LogRow, 'time'> {
  const { resumedFrom, resumedStep } = run;
  if (resumedFrom !== undefined) {
    return { type: 'resume', step, message: `Resumed after step ${step} of ${totalSteps}` };
  }
  return resumedStep === undefined
    ? { type: 'start', step, message: `Started a run of ${totalSteps} steps` }
    : { type: 'resume', step, message: 'Started again: no checkpoint was saved' };
}

/** A sample as Markdown. */
function describeSample({ prompt, response, score, kl, length }: SampleRecord): string {
  const facts = `score ${show(score)}, KL ${show(kl)}, ${length} tokens`;
  return `prompt\n\n${quote(prompt)}\n\n${facts}\n\n${quote(response)}`;
}

/** Indents text as a Markdown code block. */
function quote(text: string): string {
  return text.replace(/^/gm, '    ');
}

function show(value: number): string {
  return String(Number(value.toPrecision(4)));
}
