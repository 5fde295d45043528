import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** Times of one update. */
export interface Update {
  readonly seconds: number;
  /** Processor time of its process, over all threads; missing if unknown. */
  readonly cpuSeconds?: number;
  readonly phases?: Readonly<Record<string, number>>;
}

/** A process that builds its models, runs a warm-up update, then runs one update per request: each
 *  request is a line on its stdin, each answer a JSON line on its stdout. */
export class UpdateProcess<Ready extends object, Facts extends object> {
  /** What the process reported after its warm-up update. */
  readonly ready: Ready;
  private readonly pipe: Pipe;

  private constructor(pipe: Pipe, ready: Ready) {
    this.pipe = pipe;
    this.ready = ready;
  }

  /** Starts a process and waits for the end of its warm-up update. */
  static async start<Ready extends object, Facts extends object>(
    name: string,
    [command, ...args]: readonly [string, ...string[]],
  ): Promise<UpdateProcess<Ready, Facts>> {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    // A process that ended early closes its stdin; its missing answer is the error.
    child.stdin.on('error', () => {});
    const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const pipe = { name, child, answers };
    try {
      return new UpdateProcess<Ready, Facts>(pipe, (await nextAnswer(pipe)) as Ready);
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
  }

  get name(): string {
    return this.pipe.name;
  }

  get processId(): number {
    return this.pipe.child.pid!;
  }

  /** Runs one update. */
  async update(): Promise<Update> {
    this.pipe.child.stdin.write('update\n');
    return (await nextAnswer(this.pipe)) as Update;
  }

  /** Lets the process report its facts and end. */
  async finish(): Promise<Facts> {
    const { child } = this.pipe;
    child.stdin.end();
    const facts = (await nextAnswer(this.pipe)) as Facts;
    // The next process needs this one's memory.
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return facts;
  }

  /** Ends the process at once if it is still running. */
  stop(): void {
    this.pipe.child.kill('SIGKILL');
  }
}

interface Pipe {
  readonly name: string;
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  readonly answers: AsyncIterator<string>;
}

async function nextAnswer({ name, answers }: Pipe): Promise<object> {
  const { value, done } = await answers.next();
  if (done) {
    throw new Error(
      `Cannot measure ${name}: its process must answer each request, but it ended; its error is above`,
    );
  }
  return JSON.parse(value) as object;
}
