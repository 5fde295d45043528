import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hashRun } from '../../bench/scale-out/hash-run.ts';
import type { Arena } from './arena.ts';
import type { Program } from './build-program.ts';
import { journalVariables, type Operation } from './fs-journal.ts';
import type { RewardServer } from './reward-server.ts';
import type { RunKind } from './run-kinds.ts';

/** A run that takes longer hangs, in milliseconds. */
const LONGEST_RUN = 120_000;

/** How the process of a run is started and disturbed. */
export interface Disturbance {
  /** Further arguments of the command. */
  readonly flags?: readonly string[];
  /** Journal of all changes of the run's folder. */
  readonly journal?: string;
  /** The moment in which the process kills itself. */
  readonly killAt?: string;
  /** Number of the operation from which the disk is full. */
  readonly fullAt?: number;
  /** Milliseconds after which the process is killed. */
  readonly killAfter?: number;
}

/** How a process ended. */
export interface Ended {
  readonly status: number | null;
  /** Whether it was killed as planned. */
  readonly isKilled: boolean;
  readonly stderr: string;
}

/** An undisturbed run and what it wrote. */
export interface Twin {
  readonly folder: string;
  /** All changes of its folder. */
  readonly operations: readonly Operation[];
  readonly milliseconds: number;
  readonly bytes: number;
}

interface FinishOptions extends Pick<Disturbance, 'flags'> {
  /** Looks at the finished run before it is removed.
   *  @returns what is wrong; undefined if nothing is */
  readonly check?: ((folder: string) => Promise<string | undefined>) | undefined;
}

interface SpawnOptions {
  /** Arguments of Node. */
  readonly before?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
}

/** Runs of all kinds in one arena, and the undisturbed twin of each kind. */
export class Runs {
  private readonly arena: Arena;
  private readonly program: Program;
  private readonly rewards: RewardServer;
  private readonly twins = new Map<string, Promise<Twin>>();

  /** @param parts.rewards the server of runs with a remote reward; it fails now and then except in twins */
  constructor(arena: Arena, parts: { program: Program; rewards: RewardServer }) {
    this.arena = arena;
    this.program = parts.program;
    this.rewards = parts.rewards;
  }

  /** A new path for a run of a kind. */
  newFolder({ place }: RunKind, name: string): string {
    return this.arena.newPath(name, place);
  }

  /** The twin of a kind; computed once. */
  twin(kind: RunKind): Promise<Twin> {
    const twin = this.twins.get(kind.name) ?? this.computeTwin(kind);
    this.twins.set(kind.name, twin);
    return twin;
  }

  /** Starts a run in a new folder. */
  start(kind: RunKind, folder: string, disturbance: Disturbance = {}): Promise<Ended> {
    return this.run([kind.command, '--config', kind.config, '--output', folder], {
      folder,
      disturbance,
    });
  }

  /** Continues a run as its user would: resumes it, or starts it again if it had saved nothing. */
  async continue(kind: RunKind, folder: string, disturbance: Disturbance = {}): Promise<Ended> {
    const ended = await this.run([kind.command, '--resume', folder], { folder, disturbance });
    const isMissing =
      !ended.isKilled && /got no (run|config)\.json|no such file/.test(ended.stderr);
    if (ended.status === 0 || !isMissing || listCheckpoints(folder).length > 0) return ended;
    rmSync(folder, { recursive: true, force: true });
    return this.start(kind, folder, disturbance);
  }

  /** What is different from the twin of a run that reached its end; undefined if nothing is. */
  async findDifference(kind: RunKind, folder: string): Promise<string | undefined> {
    this.arena.counts.runs++;
    const twin = (await this.twin(kind)).folder;
    const [expected, actual] = [hashRun(twin), hashRun(folder)];
    const names = [...new Set([...Object.keys(expected), ...Object.keys(actual)])];
    const changed = names.filter((name) => expected[name] !== actual[name]);
    const [files, expectedFiles] = [listFiles(folder), listFiles(twin)];
    const extra = files.filter((file) => !expectedFiles.includes(file));
    const missing = expectedFiles.filter((file) => !files.includes(file));
    if (changed.length + extra.length + missing.length === 0) return undefined;
    const parts = Object.entries({ changed, extra, missing }).flatMap(([what, list]) =>
      list.length === 0 ? [] : `${what}: ${list.slice(0, 5).join(', ')}`,
    );
    return `its files must be those of its undisturbed twin, got ${parts.join('; ')}`;
  }

  /** Lets a disturbed run finish, compares it with its twin, and removes it.
   *  @returns what is wrong; undefined if nothing is */
  async finish(
    kind: RunKind,
    folder: string,
    { flags = [], check }: FinishOptions = {},
  ): Promise<string | undefined> {
    const ended = await this.continue(kind, folder, { flags });
    if (ended.status !== 0) return `the run must resume, got: ${lastLine(ended.stderr)}`;
    const difference = (await this.findDifference(kind, folder)) ?? (await check?.(folder));
    rmSync(folder, { recursive: true });
    return difference;
  }

  /** Starts another command of the program, which ends with the arena at the latest. */
  spawn(args: readonly string[], options: SpawnOptions = {}): ChildProcess {
    return this.arena.own(
      spawn(process.execPath, [...(options.before ?? []), this.program.main, ...args], {
        cwd: this.arena.folder,
        env: { ...programVariables(this.arena), ...options.variables },
        stdio: ['ignore', 'ignore', 'pipe'],
      }),
    );
  }

  private async computeTwin(kind: RunKind): Promise<Twin> {
    const folder = this.newFolder(kind, `twin-${kind.name}`);
    const journal = this.arena.newPath('journal');
    const start = performance.now();
    const ended = await this.rewards.withoutFaults(() => this.start(kind, folder, { journal }));
    if (ended.status !== 0) {
      throw new Error(`Cannot run ${kind.name}: it must succeed, got ${lastLine(ended.stderr)}`);
    }
    this.arena.counts.runs++;
    const milliseconds = performance.now() - start;
    const operations = readJournal(journal);
    const sizes = listFiles(folder).map((file) => statSync(join(folder, file)).size);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    return { folder, operations, milliseconds, bytes };
  }

  private async run(
    args: readonly string[],
    { folder, disturbance }: { readonly folder: string; readonly disturbance: Disturbance },
  ): Promise<Ended> {
    const { killAfter = LONGEST_RUN, flags = [], ...operations } = disturbance;
    const isLayered = Object.keys(operations).length > 0;
    const child = this.spawn([...args, ...flags], {
      ...(isLayered && { before: ['--import', this.program.layer] }),
      ...(isLayered && { variables: variablesOf(folder, operations) }),
    });
    let isHung = false;
    const timer = setTimeout(
      () => {
        isHung = killAfter >= LONGEST_RUN;
        child.kill('SIGKILL');
      },
      Math.min(killAfter, LONGEST_RUN),
    );
    let stderr = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const [status, signal] = await new Promise<[number | null, string | null]>((done) => {
      child.once('close', (code, by) => done([code, by]));
    });
    clearTimeout(timer);
    const isPlanned = disturbance.killAfter !== undefined || disturbance.killAt !== undefined;
    const isKilled = signal === 'SIGKILL' && isPlanned && !isHung;
    if (isHung) stderr += `\nThe process must end within ${LONGEST_RUN / 1000} s, got no end`;
    else if (signal !== null && !isKilled) stderr += `\nThe process ended by ${signal}`;
    if (isKilled) this.arena.counts.kills++;
    return { status, isKilled, stderr };
  }
}

/** The kind of a case. The number at the end of its seed chooses it, so that cases take turns and attacks
 *  share twins. */
export function kindOf(seed: string, kinds: readonly RunKind[]): RunKind {
  const number = Number(/\d*$/.exec(seed)![0]);
  return kinds[number % kinds.length]!;
}

function readJournal(path: string): readonly Operation[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Operation);
}

/** The environment of a program that stays in the arena. One thread per process: several run at once. */
export function programVariables({ folder }: Arena): NodeJS.ProcessEnv {
  const [home, cache] = [join(folder, 'home'), join(folder, 'compile-cache')];
  return {
    ...process.env,
    ...{ PROXIMAL_DEBUG: '', PROXIMAL_THREADS: '1', HF_HUB_OFFLINE: '1', HF_HOME: home },
    // Newer Nodes start faster with it.
    NODE_COMPILE_CACHE: cache,
  };
}

function variablesOf(
  folder: string,
  { journal, killAt, fullAt }: Omit<Disturbance, 'killAfter'>,
): Record<string, string> {
  return {
    [journalVariables.root]: folder,
    ...(journal !== undefined && { [journalVariables.journal]: journal }),
    ...(killAt !== undefined && { [journalVariables.killAt]: killAt }),
    ...(fullAt !== undefined && { [journalVariables.fullAt]: String(fullAt) }),
  };
}

/** The files of a folder, except those of TensorBoard, because each resume adds one, and of workers, which
 *  twins do not have. */
function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^(events\.out|workers\.json$)/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** The names of the checkpoints of a run, the oldest first. */
export function listCheckpoints(folder: string): readonly string[] {
  const checkpoints = join(folder, 'checkpoints');
  if (!existsSync(checkpoints)) return [];
  return readdirSync(checkpoints)
    .filter((name) => /^checkpoint-\d+$/.test(name))
    .sort();
}

/** The last line of a program's output. */
export function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}
