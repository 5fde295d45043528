import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { sampleLoad } from '../other-load.ts';

const program = fileURLToPath(new URL('../../bin/proximal.mjs', import.meta.url));

interface StartOptions {
  readonly url: string;
  /** The only core that the worker uses. */
  readonly core?: number | undefined;
}

/** A `proximal worker` in its own process. */
export class WorkerProcess {
  private readonly child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.child = child;
  }

  /** Starts a worker and waits until it is connected. */
  static async start({ url, core }: StartOptions): Promise<WorkerProcess> {
    const pin = core === undefined ? [] : ['taskset', '-c', String(core)];
    const [command, ...args] = [...pin, process.execPath, program, 'worker', '--queue', url];
    const child = spawn(command!, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.includes('Connected to Redis')) break;
    }
    child.stdout.resume();
    if (child.exitCode === null) return new WorkerProcess(child);
    throw new Error(`Cannot start a worker: it ended with ${child.exitCode}; its error is above`);
  }

  /** The worker and the process that runs its jobs. */
  processIds(): number[] {
    const { pid } = this.child;
    const children = `/proc/${pid}/task/${pid}/children`;
    const ids = existsSync(children) ? readFileSync(children, 'utf8').match(/\d+/g) : undefined;
    return [pid!, ...(ids ?? []).map(Number)];
  }

  /** Processor time of these processes; 0 without /proc. */
  cpuSeconds(): number {
    return sampleLoad(this.processIds())?.own ?? 0;
  }

  /** Lets the worker complete its job and end. */
  async stop(): Promise<void> {
    this.child.kill();
    if (this.child.exitCode === null && this.child.signalCode === null) {
      await once(this.child, 'exit');
    }
  }
}
