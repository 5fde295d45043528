import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { RedisProcess } from '../../bench/redis-process.ts';
import { type RandomStream, randomStream } from '../../src/engine/random/index.ts';
import type { Arena, Attack } from './arena.ts';
import { killAndFinish } from './kills.ts';
import { Pool } from './pool.ts';
import type { RunKind } from './run-kinds.ts';
import { kindOf, type Runs } from './runs.ts';

/** Kills of one trainer, at most. */
const MAX_KILLS = 4;
/** Kills of workers in one case, at most. */
const MAX_WORKER_KILLS = 3;
/** Milliseconds between two kills of workers, at most. */
const KILL_INTERVAL = 4000;
const WORKERS = 2;

/** Kills a trainer and the workers that run its jobs over a real Redis. */
export function workers(
  arena: Arena,
  { runs, kinds }: { readonly runs: Runs; readonly kinds: readonly RunKind[] },
): Attack {
  const queues = new Pool(() => WorkerQueue.start(arena, runs));
  return {
    ...{ name: 'workers', perHour: 20 },
    attack: (seed) =>
      queues.use(async (queue) => {
        const random = randomStream('workers', seed);
        const kind = kindOf(seed, kinds);
        await runs.twin(kind);
        const ending = new AbortController();
        const disturbed = queue.killWorkers(randomStream('worker kills', seed), ending.signal);
        const flags = ['--queue', queue.url];
        const problem = await killAndFinish(runs, { kind, random, most: MAX_KILLS, flags });
        ending.abort();
        await disturbed;
        if (problem !== undefined) arena.fail(`workers/${seed}`, problem);
        return true;
      }),
  };
}

/** A Redis with workers. */
class WorkerQueue {
  private readonly redis: RedisProcess;
  private readonly arena: Arena;
  private readonly runs: Runs;
  private readonly children: ChildProcess[];

  static async start(arena: Arena, runs: Runs): Promise<WorkerQueue> {
    const redis = await RedisProcess.start();
    arena.onClose(() => redis.stop());
    return new WorkerQueue(redis, { arena, runs });
  }

  private constructor(
    redis: RedisProcess,
    { arena, runs }: { readonly arena: Arena; readonly runs: Runs },
  ) {
    this.redis = redis;
    this.arena = arena;
    this.runs = runs;
    this.children = Array.from({ length: WORKERS }, () => this.startWorker());
  }

  get url(): string {
    return this.redis.url();
  }

  /** Kills and replaces workers at random times until the signal. */
  async killWorkers(random: RandomStream, signal: AbortSignal): Promise<void> {
    for (let left = random.integer(MAX_WORKER_KILLS + 1); left > 0; left--) {
      const isEnding = await setTimeout(random.integer(KILL_INTERVAL), false, { signal }).catch(
        () => true,
      );
      if (isEnding) return;
      const place = random.integer(WORKERS);
      const worker = this.children[place]!;
      const ended = once(worker, 'exit');
      worker.kill('SIGKILL');
      await ended;
      this.arena.counts.kills++;
      this.children[place] = this.startWorker();
    }
  }

  private startWorker(): ChildProcess {
    const worker = this.runs.spawn(['worker', '--queue', this.url]);
    worker.stderr!.resume();
    return worker;
  }
}
