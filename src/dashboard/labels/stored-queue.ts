import { basename, dirname } from 'node:path';
import type { HumanEvaluation } from '../../run/human-evaluation.ts';
import type { LabelAnswer, LabelTask } from '../api.ts';
import { AnswerLog } from './answer-log.ts';
import { evaluateComparison } from './comparison-result.ts';
import { nextSteps, questions } from './next-steps.ts';
import { answersPath, type QueueContent, readQueue } from './queue-folder.ts';
import { type Comparison, exportRow, type StoredAnswer } from './queue-schema.ts';
import { type Queue, type QueueProgress, QueueState, WriteSequence } from './queue-state.ts';

export interface StoredQueueOptions {
  /** How to call the program in commands; `proximal` by default. */
  readonly program?: string | undefined;
}

/** A queue in its own folder. */
export class StoredQueue implements Queue {
  private readonly id: string;
  private readonly labels: string;
  private readonly program: string;
  private readonly content: QueueContent;
  private readonly log: AnswerLog;
  private readonly writes = new WriteSequence();

  constructor(folder: string, { program = 'proximal' }: StoredQueueOptions = {}) {
    this.program = program;
    this.id = basename(folder);
    this.labels = dirname(folder);
    this.content = readQueue(folder);
    const { header, tasks } = this.content;
    this.log = new AnswerLog(answersPath(folder), { kind: header.kind, tasks });
  }

  async progress(): Promise<QueueProgress> {
    const { header } = this.content;
    const { name, kind, question = questions[kind] } = header;
    const { id, labels, program } = this;
    const next = nextSteps(header, { id, labels, program });
    return { ...(await this.state()).progress(), name, question, live: false, run: null, next };
  }

  /** What is compared; undefined in other queues. */
  get comparison(): Comparison | undefined {
    return this.content.header.compare;
  }

  /** The result of a comparison so far; undefined without answers and in other queues. */
  async evaluate(): Promise<HumanEvaluation | undefined> {
    const { kind, compare } = this.content.header;
    if (compare === undefined || kind === 'ranking') return undefined;
    const { tasks } = this.content;
    return evaluateComparison({
      ...{ queue: this.id, kind, compare, tasks, book: await this.log.read() },
    });
  }

  async next(labeller: string): Promise<LabelTask | undefined> {
    return (await this.state()).next(labeller);
  }

  answer(given: LabelAnswer): Promise<void> {
    return this.writes.run(async () => {
      const stored = (await this.state()).convert(given);
      if (stored === undefined) return;
      const { choice, order } = stored;
      const { task, labeller, note } = given;
      this.log.append({
        ...{ task, labeller, answer: choice as StoredAnswer['answer'] },
        ...(note !== undefined && note !== '' && { note }),
        ...{ time: new Date().toISOString(), order: [...order] },
      });
    });
  }

  undo(labeller: string): Promise<LabelTask> {
    return this.writes.run(async () => {
      const task = (await this.state()).last(labeller);
      this.log.append({ undo: task.id, labeller, time: new Date().toISOString() });
      return task;
    });
  }

  async export(): Promise<readonly object[]> {
    const book = await this.log.read();
    return this.content.tasks.flatMap((task) =>
      [...book.answersTo(task.id).values()].flatMap(({ answer }) => exportRow(task, answer) ?? []),
    );
  }

  private async state(): Promise<QueueState> {
    const { header, tasks } = this.content;
    return new QueueState({ id: this.id, kind: header.kind, tasks, book: await this.log.read() });
  }
}
