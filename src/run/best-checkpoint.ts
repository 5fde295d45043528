import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJsonObject } from '../fs/index.ts';
import { locateRunFiles } from './run-folder.ts';

const pointerSchema = z.object({ step: z.int(), folder: z.string() });

export interface BestCheckpoint {
  readonly step: number;
  /** The policy's adapter, as PEFT saves it. */
  readonly policyFolder: string;
}

/** The checkpoint with the best validation reward; undefined if none was the best. */
export async function findBestCheckpoint(run: string): Promise<BestCheckpoint | undefined> {
  const { checkpoints } = locateRunFiles(run);
  const path = join(checkpoints, 'best.json');
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const { data } = pointerSchema.safeParse(parseJsonObject(text, path));
  return data && { step: data.step, policyFolder: join(checkpoints, data.folder, 'policy') };
}
