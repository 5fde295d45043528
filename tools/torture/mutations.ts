import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { randomStream } from '../../src/engine/random/index.ts';
import type { Arena, Attack } from './arena.ts';
import type { MutationBatch, MutationResult } from './mutation-process.ts';
import { Pool } from './pool.ts';
import { programVariables } from './runs.ts';

const program = fileURLToPath(new URL('./mutation-process.ts', import.meta.url));

/** Cases of one batch, about a second. */
const BATCH = 400;
/** Milliseconds without progress after which a reader counts as hung. */
const HUNG = 30_000;
/** The same for readers in the sandbox, which ends after a minute. */
const SANDBOX_HUNG = 75_000;
const sandboxed: readonly string[] = ['parquet', 'jsonl.gz', 'response-groups'];
/** Milliseconds between two checks for progress. */
const CHECK = 500;
/** Memory of the process, in MB: a small file must not need more. */
const MEMORY = 1024;
/** Cases of one batch of the readers that run in memory; every second batch is one of theirs. */
const fastBatches = {
  safetensors: 6000,
  'jsonl-text': 6000,
  'config-json': 1500,
  'config-yaml': 1000,
};
const fastReaders = Object.keys(fastBatches) as (keyof typeof fastBatches)[];

/** Reads mutated files in a process of its own. Each must become a value or one clear error. A case is
 *  `mutation/READER:NUMBER`; other seeds are batches. */
export function mutations(arena: Arena): Attack {
  const processes = new Pool(() => MutationProcess.start(arena));
  const count = (reader: string, cases: number) => {
    arena.counts.mutations += cases;
    arena.readers.set(reader, (arena.readers.get(reader) ?? 0) + cases);
  };
  return {
    ...{ name: 'mutation', perHour: 1000 },
    attack: (seed) =>
      processes.use(async (process) => {
        const batch = chooseBatch(seed, process.readers);
        const { reader } = batch;
        const result = await process.run(batch);
        const failureOf = (number: number) => `mutation/${reader}:${number}`;
        if (typeof result === 'string') {
          const number = process.currentCase();
          count(reader, number - batch.first + 1);
          arena.fail(failureOf(number), `${reader}: ${result}`);
          return false;
        }
        count(reader, result.cases);
        for (const { number, message, kind } of result.failures) {
          arena.fail(failureOf(number), `${reader}: ${message}`, `${reader}: ${kind}`);
        }
        return true;
      }),
  };
}

/** One case, or a batch of cases of a random reader. */
function chooseBatch(seed: string, readers: readonly string[]): MutationBatch {
  const [, reader, number] = /^([a-z.-]+):(\d+)$/.exec(seed) ?? [];
  if (reader !== undefined && readers.includes(reader)) {
    return { reader, first: Number(number), count: 1 };
  }
  const random = randomStream('mutations', seed);
  const first = random.integer(2 ** 40);
  if (random.integer(2) === 0) {
    const fast = fastReaders[random.integer(fastReaders.length)]!;
    return { reader: fast, first, count: fastBatches[fast] };
  }
  return { reader: readers[random.integer(readers.length)]!, first, count: BATCH };
}

class MutationProcess {
  readonly readers: readonly string[];
  private readonly child: ChildProcess;
  private readonly progress: string;

  static async start(arena: Arena): Promise<MutationProcess> {
    const progress = arena.newPath('progress');
    const child = arena.own(
      fork(program, [arena.newFolder('readers'), progress], {
        cwd: arena.folder,
        env: programVariables(arena),
        execArgv: [`--max-old-space-size=${MEMORY}`, '--import', import.meta.resolve('tsx')],
        serialization: 'advanced',
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      }),
    );
    const readers = await nextMessage<readonly string[]>(child);
    if (typeof readers === 'string') throw new Error(`Cannot start the readers: ${readers}`);
    return new MutationProcess(child, { readers, progress });
  }

  private constructor(
    child: ChildProcess,
    { readers, progress }: { readers: readonly string[]; progress: string },
  ) {
    this.child = child;
    this.readers = readers;
    this.progress = progress;
  }

  /** The case that it last started. */
  currentCase(): number {
    return Number(readFileSync(this.progress, 'utf8'));
  }

  /** @returns a sentence if it had to be ended or ended itself */
  async run(batch: MutationBatch): Promise<MutationResult | string> {
    const answer = nextMessage<MutationResult>(this.child);
    const longest = sandboxed.includes(batch.reader) ? SANDBOX_HUNG : HUNG;
    let isHung = false;
    let [last, since] = [-1, performance.now()];
    const watch = setInterval(() => {
      const current = this.currentCase();
      if (current !== last) [last, since] = [current, performance.now()];
      isHung = performance.now() - since > longest;
      if (isHung) this.child.kill('SIGKILL');
    }, CHECK);
    this.child.send(batch);
    const result = await answer;
    clearInterval(watch);
    return isHung ? `it must end within ${longest / 1000} s, got no end` : result;
  }
}

/** The next message of a process, or how it ended. */
function nextMessage<T>(child: ChildProcess): Promise<T | string> {
  return new Promise((resolve) => {
    const onExit = (code: number | null, signal: string | null) =>
      resolve(`the process must survive, got its end by ${signal ?? `exit code ${code}`}`);
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message as T);
    });
  });
}
