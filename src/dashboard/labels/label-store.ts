import { join } from 'node:path';
import type { LabelAnswer, LabelTask, NewQueue } from '../api.ts';
import { RequestError } from '../server/http/request-error.ts';
import { type CreateOptions, createTasks } from './create/create-tasks.ts';
import type { LabelRun } from './create/response-groups.ts';
import { asksPeople, LiveQueue, liveQueueId } from './live-queue.ts';
import { parseAnswer, parseLabeller, parseNewQueue } from './parse-request.ts';
import { hasQueue, listQueueIds, writeQueue } from './queue-folder.ts';
import { toJsonLines } from './queue-schema.ts';
import type { Queue, QueueProgress } from './queue-state.ts';
import { StoredQueue } from './stored-queue.ts';

export interface LabelStoreOptions {
  /** Folder of the queues, such as `labels`; created with the first queue. */
  readonly folder: string;
  /** Runs whose samples can be labelled or that may wait for scores; none by default. */
  readonly runs?: () => Promise<readonly LabelRun[]>;
  /** Folders that files of new queues must be in; anywhere by default. */
  readonly roots?: readonly string[];
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
  private readonly listeners = new Set<() => void>();
  private isGenerating = false;

  constructor({ folder, runs = async () => [], roots }: LabelStoreOptions) {
    this.folder = folder;
    this.runs = runs;
    this.roots = roots;
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
    const live = await Promise.all(runs.map((run) => new LiveQueue(run).progress()));
    const stored: QueueProgress[] = [];
    for (const id of listQueueIds(this.folder)) {
      const queue = this.openStored(id, () => undefined);
      if (queue !== undefined) stored.push(await queue.progress());
    }
    return [...live, ...stored];
  }

  /** Creates a queue. Only one model may generate at a time. */
  async create(queue: NewQueue, options: CreateOptions = {}): Promise<QueueProgress> {
    const request = parseNewQueue(queue);
    const isGenerated = request.source.from === 'generate';
    if (isGenerated && this.isGenerating) {
      throw new RequestError(
        409,
        'Cannot create the queue: only one model may generate at a time; wait for the other one',
      );
    }
    this.isGenerating ||= isGenerated;
    try {
      const { runs, roots } = this;
      const tasks = await createTasks(request, { ...options, runs, roots });
      const { name, kind, source } = request;
      const header = { name, kind, source, createdAt: new Date().toISOString() };
      const id = await writeQueue(this.folder, { header, tasks });
      this.notify();
      return await this.progress(id);
    } finally {
      if (isGenerated) this.isGenerating = false;
    }
  }

  async progress(id: string): Promise<QueueProgress> {
    return (await this.open(id)).progress();
  }

  /** A task for this labeller; undefined if all are done. */
  async next(id: string, labeller: string): Promise<LabelTask | undefined> {
    const name = parseLabeller(labeller, 'show a task');
    return (await this.open(id)).next(name);
  }

  async answer(id: string, answer: LabelAnswer): Promise<QueueProgress> {
    const given = parseAnswer(answer);
    const queue = await this.open(id);
    await queue.answer(given);
    this.notify();
    return queue.progress();
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

  private async open(id: string): Promise<Queue> {
    const run = (await this.runs()).find((one) => liveQueueId(one) === id && asksPeople(one));
    if (run !== undefined) return new LiveQueue(run);
    if (hasQueue(this.folder, id)) {
      return this.openStored(id, (error) => {
        throw error;
      });
    }
    const got = JSON.stringify(id.slice(0, 60));
    throw new RequestError(404, `Cannot find the queue: its id must be in the list, got ${got}`);
  }

  private openStored<T>(id: string, onDamage: (error: unknown) => T): StoredQueue | T {
    const known = this.opened.get(id);
    if (known !== undefined) return known;
    try {
      const queue = new StoredQueue(join(this.folder, id));
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
