import { join } from 'node:path';
import type { LabelAnswer, LabelTask, NewQueue } from '../api.ts';
import { Refusal } from '../server/http/request-error.ts';
import { type CreateOptions, createTasks } from './create/create-tasks.ts';
import type { LabelRun } from './create/response-groups.ts';
import { asksPeople, LiveQueue, liveQueueId } from './live-queue.ts';
import { parseAnswer, parseLabeller, parseNewQueue } from './parse-request.ts';
import { hasQueue, listQueueIds, writeQueue } from './queue-folder.ts';
import { toJsonLines } from './queue-schema.ts';
import type { Queue, QueueProgress } from './queue-state.ts';
import { StoredQueue } from './stored-queue.ts';

export interface LabelStoreOptions {
  /** Where queues lie, such as `labels` beside the runs; made when the first is created. */
  readonly folder: string;
  /** The runs whose samples can be labelled, and those that may wait for scores; none by default. */
  readonly runs?: () => Promise<readonly LabelRun[]>;
  /** Where files of new queues must lie; anywhere if not given. */
  readonly roots?: readonly string[];
}

/** What people label and what they said: queues in a folder, and those of runs that wait for scores.
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

  /** Calls back after each change that is made here; returns what ends that. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Live queues, then the others by their ids. One whose files are damaged is left out; asking for
   *  it by its id says why. */
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

  /** Fills a new queue. Only one model generates at a time. */
  async create(queue: NewQueue, options: CreateOptions = {}): Promise<QueueProgress> {
    const asked = parseNewQueue(queue);
    const isGenerated = asked.source.from === 'generate';
    if (isGenerated && this.isGenerating) {
      throw new Refusal(
        409,
        'Cannot create the queue: one model may generate at a time, got a second; wait for the first',
      );
    }
    this.isGenerating ||= isGenerated;
    try {
      const { runs, roots } = this;
      const tasks = await createTasks(asked, { ...options, runs, roots });
      const { name, kind, source } = asked;
      const header = { name, kind, source, createdAt: new Date().toISOString() };
      const id = await writeQueue(this.folder, { header, tasks });
      this.tellChange();
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
    this.tellChange();
    return queue.progress();
  }

  /** Takes back this labeller's last answer; its task is open again. */
  async undo(id: string, labeller: string): Promise<LabelTask> {
    const name = parseLabeller(labeller, 'undo');
    const task = await (await this.open(id)).undo(name);
    this.tellChange();
    return task;
  }

  /** JSON Lines as `proximal reward` reads them, a row for each answer. */
  async export(id: string): Promise<string> {
    const rows = await (await this.open(id)).export();
    if (rows.length > 0) return toJsonLines(rows);
    throw new Refusal(
      409,
      'Cannot export the queue: it must have answers that prefer or rate something, got none',
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
    throw new Refusal(404, `Cannot find the queue: its id must be one of the list, got ${got}`);
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

  private tellChange(): void {
    for (const listener of this.listeners) listener();
  }
}
