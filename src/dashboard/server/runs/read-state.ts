import { join } from 'node:path';
import { z } from 'zod';
import { readOwnText, statIfExists } from '../../../fs/index.ts';
import { commandOf } from '../../../run/run-config-files.ts';
import { isRunAlive } from '../../../run/run-lock.ts';
import { hasEnded, runStatuses, stateName } from '../../../run/run-state.ts';
import type { RunKindName, RunStatus } from '../../api.ts';

const phaseSchema = z.object({ phase: z.string(), done: z.number(), total: z.number() });

/** The state of a run; other versions may have other fields. */
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

/** Reads the state of a run and checks whether its process is alive; undefined if the folder is not a run.
 *  @param read reads its state file */
export async function readState(
  folder: string,
  read: () => ReturnType<typeof readJson> = () => readJson(join(folder, stateName)),
): Promise<ReadState | undefined> {
  const state = parseState(await read());
  if (state === undefined || !isLiving(state.status) || isRunAlive(folder)) return state;
  // The process may have ended normally between the two checks.
  const again = parseState(await read());
  if (again === undefined || !isLiving(again.status)) return again;
  const message = 'The process ended without giving a reason; continue the run with --resume';
  return { ...again, status: 'killed', phase: null, message };
}

function parseState(value: Awaited<ReturnType<typeof readJson>>): ReadState | undefined {
  return value === undefined ? undefined : stateSchema.parse(value);
}

export function isLiving(status: RunStatus): boolean {
  return status !== 'killed' && !hasEnded({ status });
}

/** The kind of a run, from its config. */
export function kindOf(config: Readonly<Record<string, unknown>>): RunKindName {
  const command = commandOf(config) ?? 'train';
  return command === 'train' ? 'ppo' : command;
}

/** Reads a JSON object; undefined if the file is missing, empty if it is not a JSON object. */
export async function readJson(
  path: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const text = await readOwnText(path);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** A file with one JSON object, read again only if it has changed. The object's identity changes only
 *  with the file. */
export class JsonFile {
  private readonly path: string;
  private lastStats: string | undefined;
  private object: JsonObject | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** The object as last read. */
  get value(): JsonObject | undefined {
    return this.object;
  }

  /** Reads the object; undefined if the file is missing, empty if it contains something else. */
  async read(): Promise<JsonObject | undefined> {
    const stats = await statIfExists(this.path);
    const key = stats && `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
    if (key === undefined || key !== this.lastStats) this.object = await readJson(this.path);
    this.lastStats = key;
    return this.object;
  }
}
