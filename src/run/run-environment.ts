import { existsSync } from 'node:fs';
import type { RunConfig } from '../config/run-config.ts';
import {
  type AnswerJournal,
  type AnswerRow,
  type Environment,
  RowJournal,
} from '../environments/index.ts';
import { readOwnText, writeAtomically } from '../fs/index.ts';
import { importUserFile, type ModuleUrls } from '../reward-kl/import-reward-file.ts';
import { AppendFile } from './log-files.ts';

/** Loads the environment that a config names. It runs in this process.
 *  @example export default tools({ add }, { maxTurns: 4 }) */
export async function loadEnvironment(
  { environment: file, reward }: Pick<RunConfig, 'environment' | 'reward'>,
  { modules = {} }: { readonly modules?: ModuleUrls | undefined } = {},
): Promise<Environment | undefined> {
  if (file === undefined) return undefined;
  checkEnvironment({ environment: file });
  const exported = await importUserFile(file, { modules, contents: 'its environment' });
  if (isEnvironment(exported)) {
    if (reward.length > 0 || exported.hasRewards !== false) return exported;
    throw new Error(
      `Cannot train with ${file}: there must be a reward, because its environment gives none, got none; add one, such as --reward reward.ts`,
    );
  }
  throw new TypeError(
    `Cannot use ${file}: its default export must be an environment with an answer function, got ${typeof exported}; export what tools() or multiTurn() returns`,
  );
}

/** Uses an environment, then frees what it holds. */
export async function closeAfter<T>(
  environment: Environment | undefined,
  use: () => Promise<T>,
): Promise<T> {
  try {
    return await use();
  } finally {
    await environment?.close?.();
  }
}

/** Checks that the environment's file exists, before anything large is loaded. */
export function checkEnvironment({ environment: file }: Pick<RunConfig, 'environment'>): void {
  if (file === undefined || existsSync(file)) return;
  throw new Error(
    `Cannot use the environment ${file}: it must be a TypeScript or JavaScript file with an environment as default export, got no such file`,
  );
}

function isEnvironment(value: unknown): value is Environment {
  return typeof (value as Partial<Environment> | null | undefined)?.answer === 'function';
}

/** The answers of a run's environment, on disk. */
export interface FileJournal {
  readonly journal: AnswerJournal;
  close(): void;
}

/** Opens the answers that a run has recorded. An incomplete last line, from a process that was killed
 *  while writing, is removed. */
export async function openJournal(path: string): Promise<FileJournal> {
  const text = (await readOwnText(path)) ?? '';
  const complete = text.slice(0, text.lastIndexOf('\n') + 1);
  if (complete.length < text.length) await writeAtomically(path, complete);
  const lines = complete.split('\n').filter((line) => line !== '');
  const rows = lines.map((line): AnswerRow => JSON.parse(line));
  const file = new AppendFile(path);
  const write = (row: AnswerRow) => file.append(Buffer.from(`${JSON.stringify(row)}\n`));
  return { journal: new RowJournal(rows, write), close: () => file.close() };
}
