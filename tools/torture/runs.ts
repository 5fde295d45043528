import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hashRun } from '../../bench/scale-out/hash-run.ts';
import type { RandomStream } from '../../src/engine/random/index.ts';
import type { Arena } from './arena.ts';
import { journalVariables, momentOf, type Operation, sortOf } from './fs-journal.ts';
import type { RewardServer } from './reward-server.ts';
import type { RunKind } from './run-kinds.ts';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const layer = new URL('./fs-journal.ts', import.meta.url).href;
const tsx = import.meta.resolve('tsx');

/** A run that takes longer hangs, in milliseconds. */
const LONGEST_RUN = 120_000;

/** How the process of a run is disturbed. */
export interface Disturbance {
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
  /** The operations by their sort, such as all renames of run.json. */
  readonly sorts: readonly OperationSort[];
  readonly milliseconds: number;
  readonly bytes: number;
}

/** Runs of all kinds in one arena, and the undisturbed twin of each kind. */
export class Runs {
  private readonly arena: Arena;
  private readonly kinds: readonly RunKind[];
  private readonly rewards: RewardServer;
  private readonly twins = new Map<string, Promise<Twin>>();

  /** @param parts.rewards the server of runs with a remote reward; it fails now and then except in twins */
  constructor(arena: Arena, parts: { kinds: readonly RunKind[]; rewards: RewardServer }) {
    this.arena = arena;
    this.kinds = parts.kinds;
    this.rewards = parts.rewards;
  }

  /** The kind of a case. The number at the end of its seed chooses it, so that cases take turns and
   *  attacks share twins. */
  kindOf(seed: string): RunKind {
    const number = Number(/\d*$/.exec(seed)![0]);
    return this.kinds[number % this.kinds.length]!;
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
    const args = [kind.command, '--resume', folder];
    const ended = await this.run(args, { folder, disturbance });
    const isMissing =
      !ended.isKilled && /got no (run|config)\.json|no such file/.test(ended.stderr);
    if (ended.status === 0 || !isMissing || hasCheckpoint(folder)) return ended;
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
  async finish(kind: RunKind, folder: string): Promise<string | undefined> {
    const ended = await this.continue(kind, folder);
    if (ended.status !== 0) return `the run must resume, got: ${lastLine(ended.stderr)}`;
    const difference = await this.findDifference(kind, folder);
    rmSync(folder, { recursive: true });
    return difference;
  }

  private async computeTwin(kind: RunKind): Promise<Twin> {
    const folder = this.arena.newPath(`twin-${kind.name}`);
    const journal = `${folder}.journal`;
    const start = performance.now();
    this.rewards.hasFaults = false;
    const ended = await this.start(kind, folder, { journal });
    this.rewards.hasFaults = true;
    if (ended.status !== 0) {
      throw new Error(`Cannot run ${kind.name}: it must succeed, got ${lastLine(ended.stderr)}`);
    }
    this.arena.counts.runs++;
    const milliseconds = performance.now() - start;
    const operations = readJournal(journal);
    const sizes = listFiles(folder).map((file) => statSync(join(folder, file)).size);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    return { folder, operations, sorts: sortOperations(operations), milliseconds, bytes };
  }

  private async run(
    args: readonly string[],
    { folder, disturbance }: { readonly folder: string; readonly disturbance: Disturbance },
  ): Promise<Ended> {
    const { killAfter = LONGEST_RUN, ...operations } = disturbance;
    const isLayered = Object.keys(operations).length > 0;
    const layers = isLayered ? ['--import', layer] : [];
    const child = this.arena.own(
      spawn(process.execPath, ['--import', tsx, ...layers, main, ...args], {
        cwd: this.arena.folder,
        env: { ...programVariables(this.arena), ...(isLayered && variablesOf(folder, operations)) },
        stdio: ['ignore', 'ignore', 'pipe'],
      }),
    );
    const timer = setTimeout(() => child.kill('SIGKILL'), Math.min(killAfter, LONGEST_RUN));
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const [status, signal] = await new Promise<[number | null, string | null]>((done) => {
      child.once('close', (code, by) => done([code, by]));
    });
    clearTimeout(timer);
    const isPlanned = disturbance.killAfter !== undefined || disturbance.killAt !== undefined;
    if (signal !== null && !isPlanned) stderr += `\nThe process ended by ${signal}`;
    return { status, isKilled: signal === 'SIGKILL' && isPlanned, stderr };
  }
}

/** A random operation of a twin: its number, and the moment before it in any run of this kind. Every sort
 *  is equally likely. The number of operations differs a little from run to run, because a run shows
 *  its phase about once a second; the sorts are the same. */
export function chooseOperation(
  { sorts }: Twin,
  random: RandomStream,
): { readonly number: number; readonly moment: string } {
  const [sort, numbers] = sorts[random.integer(sorts.length)]!;
  const n = Math.floor(random.next() * numbers.length);
  return { number: numbers[n]!, moment: momentOf(sort, n) };
}

type OperationSort = readonly [sort: string, numbers: readonly number[]];

function sortOperations(operations: readonly Operation[]): readonly OperationSort[] {
  const paths = new Map<number, string>();
  const sorts = new Map<string, number[]>();
  for (const [number, operation] of operations.entries()) {
    if (operation.op === 'open') paths.set(operation.handle, operation.path);
    const path = operation.op === 'rename' ? operation.to : pathOf(operation, paths);
    const sort = sortOf(operation.op, path);
    sorts.set(sort, [...(sorts.get(sort) ?? []), number]);
  }
  return [...sorts].sort(([a], [b]) => (a < b ? -1 : 1));
}

function pathOf(
  operation: Exclude<Operation, { op: 'rename' }>,
  paths: ReadonlyMap<number, string>,
): string {
  return 'path' in operation ? operation.path : paths.get(operation.handle)!;
}

function readJournal(path: string): readonly Operation[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Operation);
}

/** The environment of a program that stays in the arena. */
export function programVariables({ folder }: Arena): NodeJS.ProcessEnv {
  const home = join(folder, 'home');
  return { ...process.env, PROXIMAL_DEBUG: '', HF_HUB_OFFLINE: '1', HF_HOME: home };
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

/** The files of a folder, except the TensorBoard files: each resume adds one. */
function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('events.out'))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

function hasCheckpoint(folder: string): boolean {
  const checkpoints = join(folder, 'checkpoints');
  if (!existsSync(checkpoints)) return false;
  return readdirSync(checkpoints).some((name) => /^checkpoint-\d+$/.test(name));
}

/** The last line of a program's output. */
export function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}
