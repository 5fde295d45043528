import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { statIfExists } from '../../../fs/index.ts';
import { commandOf } from '../../../run/run-config-files.ts';
import { isRunAlive } from '../../../run/run-lock.ts';
import { hasEnded, runStatuses, stateName } from '../../../run/run-state.ts';
import type { RunKindName, RunStatus } from '../../api.ts';

const phaseSchema = z.object({ phase: z.string(), done: z.number(), total: z.number() });

/** A run's state as far as it is there: versions before and after this one may have other fields. */
const stateSchema = z.object({
  startedAt: z.iso.datetime().catch(new Date(0).toISOString()),
  step: z.int().min(0).catch(0),
  totalSteps: z.int().min(0).nullable().catch(null).default(null),
  status: z.enum(runStatuses).catch('running'),
  message: z.string().nullable().catch(null).default(null),
  phase: phaseSchema.nullable().catch(null).default(null),
});

export type ReadState = Omit<z.output<typeof stateSchema>, 'status'> & {
  readonly status: RunStatus;
};

/** How far a run is, and whether its process lives; undefined if the folder holds none.
 *  @param read the object in its file */
export async function readState(
  folder: string,
  read: () => ReturnType<typeof readJson> = () => readJson(join(folder, stateName)),
): Promise<ReadState | undefined> {
  const state = parseState(await read());
  if (state === undefined || !isLiving(state.status) || isRunAlive(folder)) return state;
  // The process may have ended in order between the two looks.
  const again = parseState(await read());
  if (again === undefined || !isLiving(again.status)) return again;
  const message = 'Its process is gone without having said why; --resume goes on with it';
  return { ...again, status: 'killed', phase: null, message };
}

function parseState(value: Awaited<ReturnType<typeof readJson>>): ReadState | undefined {
  return value === undefined ? undefined : stateSchema.parse(value);
}

export function isLiving(status: RunStatus): boolean {
  return status !== 'killed' && !hasEnded({ status });
}

/** What a run trains, by its config. */
export function kindOf(config: Readonly<Record<string, unknown>>): RunKindName {
  const command = commandOf(config) ?? 'train';
  return command === 'train' ? 'ppo' : command;
}

/** The object in a file; undefined where there is none, also where it is being written. */
export async function readJson(
  path: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

/** A file with one JSON object, which is read again only where it has changed: then, and only then,
 *  the object is another one. */
export class JsonFile {
  private readonly path: string;
  private seen: string | undefined;
  private object: JsonObject | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** As of the last reading. */
  get value(): JsonObject | undefined {
    return this.object;
  }

  /** The object; undefined where there is no file, and empty where it holds something else. */
  async read(): Promise<JsonObject | undefined> {
    const stats = await statIfExists(this.path);
    const seen = stats && `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
    if (seen === undefined || seen !== this.seen) this.object = await readJson(this.path);
    this.seen = seen;
    return this.object;
  }
}
