import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What the attacks did so far. */
export interface Counts {
  /** Runs that reached their end and were compared with their twin. */
  runs: number;
  kills: number;
  power_cuts: number;
  full_disks: number;
  mutations: number;
  requests: number;
}

/** Something that must not happen. */
export interface Failure {
  /** The attack and its seed, as `--case` takes them. */
  readonly case: string;
  readonly message: string;
  /** Reproduces the case. */
  readonly command: string;
  /** Number of cases that failed in the same way; only the first is listed. */
  times: number;
}

/** One way to disturb the system. */
export interface Attack {
  readonly name: string;
  /** Number of cases for which an hour on two cores suffices: the attacks advance in this ratio. */
  readonly perHour: number;
  /** Runs the case of a seed. Everything random in it comes from the seed. */
  attack(seed: string): Promise<void>;
}

/** The place of all attacks: one temporary folder, the processes in it, and what was found. */
export class Arena {
  readonly folder = mkdtempSync(join(tmpdir(), 'proximal-torture-'));
  readonly counts: Counts = {
    ...{ runs: 0, kills: 0, power_cuts: 0, full_disks: 0, mutations: 0, requests: 0 },
  };
  /** Mutations by reader. */
  readonly readers = new Map<string, number>();
  private readonly found = new Map<string, Failure>();
  private readonly children = new Set<ChildProcess>();
  private readonly cleanups: (() => unknown)[] = [];
  private folders = 0;

  get failures(): readonly Failure[] {
    return [...this.found.values()];
  }

  /** Records a failure. Those of the same kind are counted together.
   *  @param kind the text without its numbers and paths by default */
  fail(caseName: string, text: string, kind = text): void {
    const shorten = (long: string) => long.replaceAll(this.folder, '…').slice(0, 600);
    const message = shorten(text);
    const [attack] = caseName.split('/');
    const key = `${attack} ${shorten(kind).replace(/…\S*|[\da-f]{6,}|\d+/g, '#')}`;
    const known = this.found.get(key);
    if (known !== undefined) known.times++;
    else {
      const command = `npm run torture -- --case '${caseName}'`;
      this.found.set(key, { case: caseName, message, command, times: 1 });
    }
  }

  /** A new path in the temporary folder, or in one within it. */
  newPath(name: string, folder = this.folder): string {
    return join(folder, `${name}-${this.folders++}`);
  }

  /** A new folder in the temporary folder. */
  newFolder(name: string): string {
    const path = this.newPath(name);
    mkdirSync(path);
    return path;
  }

  /** Ends a process with the arena, if it has not ended before. */
  own<C extends ChildProcess>(child: C): C {
    this.children.add(child);
    child.once('exit', () => this.children.delete(child));
    return child;
  }

  /** Calls something when the arena closes; the last one first. */
  onClose(cleanup: () => unknown): void {
    this.cleanups.push(cleanup);
  }

  /** Ends all processes and removes the temporary folder. */
  async close(): Promise<void> {
    for (const child of this.children) child.kill('SIGKILL');
    for (const cleanup of this.cleanups.splice(0).reverse()) await cleanup();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
