import { type EvaluationReport, evaluationMetrics } from '../ppo-trainer/evaluation-report.ts';
import type { TrainEvent } from '../ppo-trainer/events.ts';
import type { SampleRecord } from '../ppo-trainer/records.ts';
import { JsonlWriter } from './jsonl-writer.ts';
import type { RunFolder } from './run-folder.ts';
import { EventWriter } from './tensorboard/event-writer.ts';

type StepEvent = Extract<TrainEvent, { type: 'step' }>;

/** Writes down what a run tells: metrics, samples and evaluations as JSONL and for TensorBoard,
 *  and the state of the run. NaN and infinities are null in JSONL and themselves in TensorBoard. */
export class MetricSink {
  private readonly run: RunFolder;
  private readonly metrics: JsonlWriter;
  private readonly samples: JsonlWriter;
  private readonly evaluations: JsonlWriter;
  private readonly events: EventWriter;

  constructor(run: RunFolder) {
    this.run = run;
    this.metrics = new JsonlWriter(run.paths.metrics);
    this.samples = new JsonlWriter(run.paths.samples);
    this.evaluations = new JsonlWriter(run.paths.evaluations);
    this.events = new EventWriter(run.paths.events, { resumedStep: run.resumedStep });
  }

  /** Takes one event; it is with the system when this returns, and on the disk after a checkpoint. */
  handle(event: TrainEvent): void {
    if (event.type === 'run-start') this.run.update({ totalSteps: event.totalSteps });
    else if (event.type === 'step') this.writeStep(event);
    else if (event.type === 'evaluation') this.writeEvaluation(event.step, event.report);
    else if (event.type === 'validation') {
      this.evaluations.append({ step: event.step, ...event.metrics });
      this.events.write(event.step, { scalars: event.metrics, texts: {} });
    } else if (event.type === 'checkpoint') this.sync();
    else if (event.type === 'run-end') {
      this.sync();
      this.run.update({ step: event.step, status: event.reason, message: event.message });
    }
  }

  /** May be called twice; the run's folder stays open. */
  close(): void {
    for (const file of this.files()) file.close();
  }

  private writeStep({ step, epoch, metrics, samples }: StepEvent): void {
    this.metrics.append({ step, epoch, ...metrics });
    for (const sample of samples) this.samples.append(sample);
    const texts = samples.length > 0 ? { samples: samples.map(describeSample) } : {};
    this.events.write(step, { scalars: metrics, texts });
    this.run.update({ step });
  }

  private writeEvaluation(step: number, report: EvaluationReport): void {
    this.evaluations.append({ step, ...report });
    const rows = report.samples.map(
      (sample) =>
        `${describeSample(sample)}\n\nreference, score ${show(sample.refScore)}\n\n${quote(sample.refResponse)}`,
    );
    this.events.write(step, {
      scalars: evaluationMetrics(report),
      texts: rows.length > 0 ? { 'eval/samples': rows } : {},
    });
  }

  private sync(): void {
    for (const file of this.files()) file.sync();
  }

  private files(): readonly (JsonlWriter | EventWriter)[] {
    return [this.metrics, this.samples, this.evaluations, this.events];
  }
}

/** A sample as Markdown. */
function describeSample({ prompt, response, score, kl, length }: SampleRecord): string {
  const facts = `score ${show(score)}, KL ${show(kl)}, ${length} tokens`;
  return `prompt\n\n${quote(prompt)}\n\n${facts}\n\n${quote(response)}`;
}

/** A code block, in which text stays as it is. */
function quote(text: string): string {
  return text.replace(/^/gm, '    ');
}

function show(value: number): string {
  return String(Number(value.toPrecision(4)));
}
