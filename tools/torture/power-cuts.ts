import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RandomStream, randomStream } from '../../src/engine/random/index.ts';
import type { Arena, Attack } from './arena.ts';
import type { Operation } from './fs-journal.ts';
import { chooseOperation } from './moments.ts';
import type { RunKind } from './run-kinds.ts';
import { kindOf, type Runs, type Twin } from './runs.ts';

/** Cuts the power at a random point of a run, then resumes what a file system may have kept. */
export function powerCuts(
  arena: Arena,
  { runs, kinds }: { readonly runs: Runs; readonly kinds: readonly RunKind[] },
): Attack {
  const checked = new Set<string>();
  return {
    ...{ name: 'power-cut', perHour: 165 },
    async attack(seed) {
      const random = randomStream('power cut', seed);
      const kind = kindOf(seed, kinds);
      const twin = await runs.twin(kind);
      const { operations } = twin;
      if (!checked.has(kind.name)) checkJournal(operations, twin.folder);
      checked.add(kind.name);
      const cut = chooseCut(twin, random);
      const folder = arena.newPath('cut');
      writeTree(folder, survive(operations, cut));
      arena.counts.power_cuts++;
      const problem = await runs.finish(kind, folder);
      if (problem === undefined) return;
      const place = `after operation ${cut.time} of ${operations.length}`;
      arena.fail(`power-cut/${seed}`, `${kind.name}, power cut ${place}: ${problem}`);
    },
  };
}

/** The moment of a power cut and what it leaves. */
export interface PowerCut {
  /** Operations before it were requested. */
  readonly time: number;
  /** Operations on names before it survive; at least those before the last flush. */
  readonly names: number;
  /** Decides which unflushed data survive; all if missing. */
  readonly random?: RandomStream | undefined;
}

/** Half of the cuts keep no name that is not flushed. */
function chooseCut(twin: Twin, random: RandomStream): PowerCut {
  const { operations } = twin;
  const time = chooseOperation(twin, { random }).number + 1;
  const flushed = operations.slice(0, time).findLastIndex(({ op }) => op === 'sync') + 1;
  const more = random.integer(2) === 0 ? 0 : random.integer(time - flushed + 1);
  return { time, names: flushed + more, random };
}

/** A file or folder by its names. */
type Node = { readonly id: number; readonly children?: Map<string, Node> };

/** A change of a file's bytes. */
interface Change {
  readonly time: number;
  readonly position: number;
  /** Missing if the file is truncated to `position`. */
  readonly bytes?: Buffer;
}

interface FileData {
  readonly changes: Change[];
  size: number;
  /** Changes before this time are on disk. */
  flushed: number;
}

/** The files that a file system with a journal may have after a power cut, such as XFS, or ext4 with delayed
 *  allocation:
 *  - Changes of names survive in their order, up to a point. A flush of any file includes all earlier
 *    ones.
 *  - Flushed bytes survive. Later bytes survive as a prefix, as zeros or not at all.
 *  @returns bytes by path; null for a folder */
export function survive(
  operations: readonly Operation[],
  { time, names, random }: PowerCut,
): ReadonlyMap<string, Buffer | null> {
  const { data } = new Replay(operations.slice(0, time));
  const { root } = new Replay(operations.slice(0, names));
  const files = new Map<string, Buffer | null>();
  const visit = (node: Node, path: string) => {
    files.set(path, node.children ? null : composeFile(data.get(node.id)!, { names, random }));
    for (const [name, child] of node.children ?? []) visit(child, join(path, name));
  };
  if (root !== undefined) visit(root, '');
  return files;
}

type ChangeOf<Op extends Operation['op']> = Extract<Operation, { op: Op }>;

/** Names, handles and bytes after some operations. Ids are times of creation, so they are the same in every
 *  replay of a journal. */
class Replay {
  readonly data = new Map<number, FileData>();
  private readonly top = { id: -1, children: new Map<string, Node>() };
  private readonly handles = new Map<number, { id: number; position: number; appends: boolean }>();

  constructor(operations: readonly Operation[]) {
    for (const [time, operation] of operations.entries()) this.apply(time, operation);
  }

  /** The folder; undefined before it is created. */
  get root(): Node | undefined {
    return this.top.children.get('root');
  }

  private apply(time: number, operation: Operation): void {
    const { op } = operation;
    if (op === 'open') this.open(time, operation);
    else if (op === 'write') this.write(time, operation);
    else if (op === 'truncate') {
      const { id } = this.handles.get(operation.handle)!;
      change(this.data.get(id)!, { time, position: operation.size });
    } else if (op === 'sync') {
      const file = this.data.get(this.handles.get(operation.handle)!.id);
      if (file !== undefined) file.flushed = time;
    } else if (op === 'rename') {
      const [from, to] = [this.locate(operation.from), this.locate(operation.to)];
      to.siblings.set(to.name, from.siblings.get(from.name)!);
      from.siblings.delete(from.name);
    } else {
      const { siblings, name } = this.locate(operation.path);
      if (op === 'mkdir') siblings.set(name, { id: time, children: new Map() });
      else siblings.delete(name);
    }
  }

  private open(time: number, { path, handle, isNew, truncates, appends }: ChangeOf<'open'>): void {
    const { siblings, name } = this.locate(path);
    if (isNew) {
      siblings.set(name, { id: time });
      this.data.set(time, { changes: [], size: 0, flushed: 0 });
    }
    const { id } = siblings.get(name)!;
    this.handles.set(handle, { id, position: 0, appends });
    const file = this.data.get(id);
    if (truncates && !isNew && file !== undefined) change(file, { time, position: 0 });
  }

  private write(time: number, { handle: number, position: place, data }: ChangeOf<'write'>): void {
    const handle = this.handles.get(number)!;
    const file = this.data.get(handle.id)!;
    const bytes = Buffer.from(data, 'base64');
    const position = place ?? (handle.appends ? file.size : handle.position);
    change(file, { time, position, bytes });
    if (place === null) handle.position = position + bytes.length;
  }

  private locate(path: string): { readonly siblings: Map<string, Node>; readonly name: string } {
    const names = ['root', ...path.split('/').filter((name) => name !== '')];
    const parents = names.slice(0, -1);
    const parent = parents.reduce<Node>((node, name) => node.children!.get(name)!, this.top);
    return { siblings: parent.children!, name: names.at(-1)! };
  }
}

function change(file: FileData, { time, position, bytes }: Change): void {
  file.changes.push({ time, position, ...(bytes && { bytes }) });
  file.size = bytes === undefined ? position : Math.max(file.size, position + bytes.length);
}

/** What happens to bytes that were not flushed. */
const fates = ['lost', 'prefix', 'zeros', 'kept'] as const;

function composeFile(
  { changes, flushed }: FileData,
  { names, random }: Pick<PowerCut, 'names' | 'random'>,
): Buffer {
  // Truncation changes the file's size, in order with the names; without it, nothing later survives.
  const lost = changes.findIndex((it) => !it.bytes && it.time >= names && it.time >= flushed);
  const possible = lost < 0 ? changes : changes.slice(0, lost);
  let content: Buffer = Buffer.alloc(0);
  for (const { position, bytes } of decideFate(possible, { flushed, random })) {
    if (bytes?.length === 0) continue;
    const end = position + (bytes?.length ?? 0);
    content = resize(content, bytes === undefined ? end : Math.max(content.length, end));
    if (bytes !== undefined) content.set(bytes, position);
  }
  return content;
}

/** Shortens or clears the bytes that were not flushed. */
function decideFate(
  changes: readonly Change[],
  { flushed, random }: { flushed: number; random: RandomStream | undefined },
): readonly Change[] {
  const fate = random === undefined ? 'kept' : fates[random.integer(fates.length)]!;
  const isLater = ({ time, bytes }: Change) => bytes !== undefined && time >= flushed;
  const length = changes.filter(isLater).reduce((sum, { bytes }) => sum + bytes!.length, 0);
  let rest = { lost: 0, prefix: random?.integer(length + 1) ?? 0, zeros: length, kept: length }[
    fate
  ];
  return changes.map((it) => {
    if (!isLater(it)) return it;
    const kept = it.bytes!.subarray(0, rest);
    rest -= kept.length;
    return { ...it, bytes: fate === 'zeros' ? Buffer.alloc(kept.length) : kept };
  });
}

function resize(bytes: Buffer, size: number): Buffer {
  const resized = Buffer.alloc(size);
  bytes.copy(resized);
  return resized;
}

function writeTree(folder: string, files: ReadonlyMap<string, Buffer | null>): void {
  for (const [path, bytes] of files) {
    if (bytes === null) mkdirSync(join(folder, path), { recursive: true });
    else writeFileSync(join(folder, path), bytes);
  }
}

/** Requires that a journal contains every change of its folder: without a power cut, it creates exactly
 *  the files that are there. */
function checkJournal(operations: readonly Operation[], folder: string): void {
  const end = operations.length;
  const files = survive(operations, { time: end, names: end });
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const wrong = [...new Set([...names, ...files.keys()])].find((name) => {
    const bytes = files.get(name);
    if (bytes === undefined || !(name === '' || names.includes(name))) return true;
    return bytes !== null && !bytes.equals(readFileSync(join(folder, name)));
  });
  if (wrong === undefined) return;
  throw new Error(`Internal: the journal must contain all changes of ${join(folder, wrong)}`);
}
