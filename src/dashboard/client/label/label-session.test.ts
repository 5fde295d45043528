import { describe, expect, test } from 'vitest';
import type {
  DashboardEvent,
  LabelAnswer,
  LabelChoice,
  LabelQueue,
  LabelTask,
  LiveSource,
} from '../../api.ts';
import { LabelSession } from './label-session.ts';
import { pageMemory } from './labeller-form.tsx';
import { QueueStore } from './queue-store.ts';

const left: LabelChoice = { kind: 'pair', choice: 0 };

/** An in-memory queue of pairs that can fail on demand. */
class PairServer implements LiveSource {
  readonly answers: LabelAnswer[] = [];
  total: number;
  failure: string | undefined;
  private listener: ((event: DashboardEvent) => void) | undefined;

  constructor(total: number) {
    this.total = total;
  }

  subscribe(listener: (event: DashboardEvent) => void): () => void {
    this.listener = listener;
    return () => {
      this.listener = undefined;
    };
  }

  publish(): void {
    this.listener?.({ type: 'labels', queues: [this.queue()] });
  }

  async queues(): Promise<LabelQueue[]> {
    return [this.queue()];
  }

  async nextTask(): Promise<LabelTask | undefined> {
    this.expectUp();
    return this.answers.length < this.total ? this.task(this.answers.length) : undefined;
  }

  async answer(_: string, answer: LabelAnswer): Promise<LabelQueue> {
    this.expectUp();
    this.answers.push(answer);
    return this.queue();
  }

  async undo(): Promise<LabelTask> {
    this.expectUp();
    if (this.answers.pop() === undefined) throw new Error('Cannot undo: nothing was answered');
    return this.task(this.answers.length);
  }

  createQueue = () => Promise.reject(new Error('unused'));
  control = () => Promise.reject(new Error('unused'));
  saveNote = () => Promise.reject(new Error('unused'));
  exportUrl = () => '';

  private task(index: number): LabelTask {
    return { id: `t${index}`, kind: 'pair', prompt: 'p', responses: ['a', 'b'] };
  }

  private queue(): LabelQueue {
    const answered = this.answers.length;
    const labellers = [{ name: 'Ada', answers: answered }];
    const { total } = this;
    return {
      id: 'q',
      name: 'q',
      kind: 'pair',
      question: 'Which?',
      live: true,
      run: 'r',
      next: [],
      total,
      answered,
      labellers,
      agreement: null,
    };
  }

  private expectUp(): void {
    if (this.failure !== undefined) throw new Error(this.failure);
  }
}

async function startSession(server: PairServer, memory = pageMemory()) {
  const store = new QueueStore(server);
  await store.load();
  const session = new LabelSession({ live: server, store, queue: 'q', labeller: 'Ada', memory });
  await session.start();
  return session;
}

describe('LabelSession', () => {
  test('sends answers in order with their notes until none are left', async () => {
    const server = new PairServer(2);
    const session = await startSession(server);
    session.note.value = ' clear ';
    await session.answer(left);
    expect(session.task.value?.id).toBe('t1');
    expect(session.note.value).toBe('');
    expect(session.announcement.value).toBe('Next task. 1 of 2 answered.');
    await session.answer({ kind: 'pair', choice: 'tie' });
    expect(session.state.value).toBe('done');
    expect(server.answers).toEqual([
      { task: 't0', labeller: 'Ada', answer: left, note: 'clear' },
      { task: 't1', labeller: 'Ada', answer: { kind: 'pair', choice: 'tie' } },
    ]);
  });

  test('a second answer while the first is being sent is ignored', async () => {
    const server = new PairServer(3);
    const session = await startSession(server);
    await Promise.all([session.answer(left), session.answer(left)]);
    expect(server.answers).toHaveLength(1);
    expect(session.task.value?.id).toBe('t1');
  });

  test('a failed answer is saved and can be sent again', async () => {
    const server = new PairServer(2);
    const session = await startSession(server);
    server.failure = 'The server\n is away';
    session.note.value = 'good';
    await session.answer(left);
    expect([session.state.value, session.error.value]).toEqual(['unsent', 'The server is away']);
    await session.retry();
    expect([session.state.value, session.note.value]).toEqual(['unsent', 'good']);
    server.failure = undefined;
    await session.retry();
    expect(server.answers).toEqual([{ task: 't0', labeller: 'Ada', answer: left, note: 'good' }]);
    expect([session.state.value, session.error.value]).toEqual(['ready', undefined]);
  });

  test('an unsent answer survives a reload and is sent first', async () => {
    const server = new PairServer(2);
    const memory = pageMemory();
    const earlier = await startSession(server, memory);
    server.failure = 'away';
    await earlier.answer(left);
    server.failure = undefined;
    const session = await startSession(server, memory);
    expect(server.answers).toEqual([{ task: 't0', labeller: 'Ada', answer: left }]);
    expect(session.task.value?.id).toBe('t1');
    await startSession(server, memory);
    expect(server.answers).toHaveLength(1);
  });

  test('an unsent answer can be withdrawn or discarded', async () => {
    const server = new PairServer(2);
    const session = await startSession(server);
    server.failure = 'away';
    await session.answer(left);
    await session.undo();
    expect([session.state.value, session.task.value?.id]).toEqual(['ready', 't0']);
    await session.answer(left);
    server.failure = undefined;
    await session.discard();
    expect([session.state.value, session.task.value?.id]).toEqual(['ready', 't0']);
    await session.retry();
    expect(server.answers).toEqual([]);
  });

  test('undo reopens the last task with its note, even after the final task', async () => {
    const server = new PairServer(1);
    const session = await startSession(server);
    session.note.value = 'good';
    await session.answer(left);
    await session.undo();
    expect([session.task.value?.id, session.note.value]).toEqual(['t0', 'good']);
    expect(server.answers).toEqual([]);
    await session.undo();
    expect(session.error.value).toBe('Cannot undo: nothing was answered');
    expect([session.state.value, session.task.value?.id]).toEqual(['ready', 't0']);
  });

  test('loading a task can be retried', async () => {
    const server = new PairServer(1);
    server.failure = 'away';
    const session = await startSession(server);
    expect(session.state.value).toBe('failed');
    server.failure = undefined;
    await session.retry();
    expect([session.state.value, session.task.value?.id]).toEqual(['ready', 't0']);
  });

  test('new tasks appear only after all others are answered', async () => {
    const server = new PairServer(1);
    const session = await startSession(server);
    await session.checkForTasks();
    expect(session.task.value?.id).toBe('t0');
    await session.answer(left);
    await session.checkForTasks();
    expect(session.state.value).toBe('done');
    server.total = 2;
    server.publish();
    await session.checkForTasks();
    expect([session.state.value, session.task.value?.id]).toEqual(['ready', 't1']);
  });
});
