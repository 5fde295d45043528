import { join } from 'node:path';
import type { HumanEvaluation } from '../../run/human-evaluation.ts';
import { recordHumanEvaluation } from '../../run/record-human-evaluation.ts';
import type { LabelAnswer, LabelTask, NewQueue } from '../api.ts';
import { RequestError } from '../server/http/request-error.ts';
import { createTasks } from './create/create-tasks.ts';
import type { CreateOptions } from './create/find-source.ts';
import type { LabelRun } from './create/response-groups.ts';
import { asksPeople, LiveQueue, liveQueueId } from './live-queue.ts';
import { parseAnswer, parseLabeller, parseNewQueue } from './parse-request.ts';
import { hasQueue, listQueueIds, writeQueue } from './queue-folder.ts';
import { type Comparison, toJsonLines } from './queue-schema.ts';
import { type Queue, type QueueProgress, WriteSequence } from './queue-state.ts';
import { StoredQueue } from './stored-queue.ts';

export interface LabelStoreOptions {
  /** Folder of the queues, such as `labels`; created with the first queue. */
  readonly folder: string;
  /** Runs whose samples can be labelled or that may wait for scores; none by default. */
  readonly runs?: () => Promise<readonly LabelRun[]>;
  /** Folders that files of new queues must be in; anywhere by default. */
  readonly roots?: readonly string[];
  /** Reports problems that do not concern labellers; they are thrown by default. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** How to call the program in commands for users; `proximal` by default. */
  readonly program?: string | undefined;
}

/** A comparison with its result. */
export interface ComparisonResult extends Comparison {
  readonly human: HumanEvaluation;
  /** Whether the run's evaluations did not have this result before. */
  readonly isRecorded: boolean;
}

/** Label queues and their answers: those in a folder, and those of runs that wait for scores.
 *  @example
 *  const store = new LabelStore({ folder: 'labels' });
 *  const source = { from: 'file', file: 'answers.jsonl' } as const;
 *  const { id } = await store.create({ name: 'Helpful?', kind: 'pair', source });
 *  const task = await store.next(id, 'Ada');
 *  const answer = { kind: 'pair', choice: 0 } as const;
 *  await store.answer(id, { task: task.id, labeller: 'Ada', answer });
 *  const rows = await store.export(id); */
export class LabelStore {
  private readonly folder: string;
  private readonly runs: () => Promise<readonly LabelRun[]>;
  private readonly roots: readonly string[] | undefined;
  private readonly opened = new Map<string, StoredQueue>();
  /** By the folder of the run. */
  private readonly liveWrites = new Map<string, WriteSequence>();
  private readonly listeners = new Set<() => void>();
  private readonly onError: (error: unknown) => void;
  private readonly program: string;
  private isGenerating = false;

  constructor(options: LabelStoreOptions) {
    const { folder, runs = async () => [], roots, onError = rethrow } = options;
    this.program = options.program ?? 'proximal';
    this.folder = folder;
    this.runs = runs;
    this.roots = roots;
    this.onError = onError;
  }

  /** Calls back after each change made here; returns a function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Live queues, then the others by id. Damaged queues are left out; opening one by its id reports
   *  the error. */
  async list(): Promise<QueueProgress[]> {
    const runs = (await this.runs()).filter(asksPeople);
    const live = await Promise.all(runs.map((run) => this.openLive(run).progress()));
    const stored: QueueProgress[] = [];
    for (const id of listQueueIds(this.folder)) {
      const queue = this.openStored(id, () => undefined);
      if (queue !== undefined) stored.push(await this.describe(queue));
    }
    return [...live, ...stored];
  }

  /** Creates a queue. Only one model may generate at a time. */
  async create(queue: NewQueue, options: CreateOptions = {}): Promise<QueueProgress> {
    const request = parseNewQueue(queue);
    const isGenerated = ['generate', 'compare'].includes(request.source.from);
    if (isGenerated && this.isGenerating) {
      throw new RequestError(
        409,
        'Cannot create the queue: only one model may generate at a time; wait for the other one',
      );
    }
    this.isGenerating ||= isGenerated;
    try {
      const { runs, roots } = this;
      const { tasks, ...found } = await createTasks(request, { ...options, runs, roots });
      const { name, kind, question, source } = request;
      const createdAt = new Date().toISOString();
      const header = { name, kind, question, source, ...found, createdAt };
      const id = await writeQueue(this.folder, { header, tasks });
      this.notify();
      return await this.progress(id);
    } finally {
      if (isGenerated) this.isGenerating = false;
    }
  }

  async progress(id: string): Promise<QueueProgress> {
    return this.describe(await this.open(id));
  }

  /** The result of a comparison so far, also added to the evaluations of its run.
   *  @returns undefined without answers */
  async results(id: string): Promise<ComparisonResult | undefined> {
    const queue = await this.open(id);
    if (!isComparison(queue)) {
      throw new RequestError(
        400,
        `Cannot show the results of ${id}: it must be a comparison, got another queue; create one with "${this.program} labels create --compare"`,
      );
    }
    const compare = queue.comparison!;
    const human = await queue.evaluate();
    if (human === undefined) return undefined;
    const isRecorded = await recordHumanEvaluation(compare.run, { step: compare.step, human });
    return { ...compare, human, isRecorded };
  }

  /** A task for this labeller; undefined if all are done. */
  async next(id: string, labeller: string): Promise<LabelTask | undefined> {
    const name = parseLabeller(labeller, 'show a task');
    return (await this.open(id)).next(name);
  }

  async answer(id: string, answer: LabelAnswer): Promise<QueueProgress> {
    const given = parseAnswer(answer);
    const { labeller } = given;
    const queue = await this.open(id);
    const before = await queue.progress();
    await queue.answer(given);
    const progress = await this.describe(queue);
    if (isComparison(queue) && (await isFinished(queue, { before, progress, labeller }))) {
      // The answer is saved, so the labeller need not know of a problem with the run's folder.
      await this.results(id).catch(this.onError);
    }
    this.notify();
    return progress;
  }

  /** Removes this labeller's last answer and reopens its task. */
  async undo(id: string, labeller: string): Promise<LabelTask> {
    const name = parseLabeller(labeller, 'undo');
    const task = await (await this.open(id)).undo(name);
    this.notify();
    return task;
  }

  /** JSON Lines as `proximal reward` reads them, a row per answer. */
  async export(id: string): Promise<string> {
    const rows = await (await this.open(id)).export();
    if (rows.length > 0) return toJsonLines(rows);
    throw new RequestError(
      409,
      'Cannot export the queue: it must have answers with a preference or rating, got none',
    );
  }

  /** A queue with the id of the run that it compares. */
  private async describe(queue: Queue): Promise<QueueProgress> {
    const progress = await queue.progress();
    if (!isComparison(queue)) return progress;
    const { run: folder } = queue.comparison!;
    const run = (await this.runs()).find((one) => one.folder === folder)?.id ?? null;
    return { ...progress, run };
  }

  private async open(id: string): Promise<Queue> {
    const run = (await this.runs()).find((one) => liveQueueId(one) === id && asksPeople(one));
    if (run !== undefined) return this.openLive(run);
    if (hasQueue(this.folder, id)) {
      return this.openStored(id, (error) => {
        throw error;
      });
    }
    const got = JSON.stringify(id.slice(0, 60));
    throw new RequestError(404, `Cannot find the queue: its id must be in the list, got ${got}`);
  }

  private openLive(run: LabelRun): LiveQueue {
    const writes = this.liveWrites.get(run.folder) ?? new WriteSequence();
    this.liveWrites.set(run.folder, writes);
    return new LiveQueue(run, writes);
  }

  private openStored<T>(id: string, onDamage: (error: unknown) => T): StoredQueue | T {
    const known = this.opened.get(id);
    if (known !== undefined) return known;
    try {
      const queue = new StoredQueue(join(this.folder, id), { program: this.program });
      this.opened.set(id, queue);
      return queue;
    } catch (error) {
      return onDamage(error);
    }
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}

function rethrow(error: unknown): never {
  throw error;
}

function isComparison(queue: Queue): queue is StoredQueue {
  return queue instanceof StoredQueue && queue.comparison !== undefined;
}

interface Answered {
  readonly before: QueueProgress;
  readonly progress: QueueProgress;
  readonly labeller: string;
}

/** Whether the last answer completes the queue or a labeller's part of it. A result after every answer
 *  would tell the labeller which side each answer was for. */
async function isFinished(
  queue: Queue,
  { before, progress, labeller }: Answered,
): Promise<boolean> {
  const { answered, total } = progress;
  if (before.answered < total && answered === total) return true;
  return (await queue.next(labeller)) === undefined;
}
