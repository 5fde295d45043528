import { writeFile } from 'node:fs/promises';
import { LabelStore } from '../../dashboard/labels/label-store.ts';
import type { LabelsFlags } from './labels-flags.ts';

/** Writes a queue's answers and says how many. */
export async function exportQueue(
  queue: string,
  { labels, output, json }: LabelsFlags & { readonly output: string },
): Promise<void> {
  const text = await new LabelStore({ folder: labels }).export(queue);
  await writeFile(output, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    throw new Error(`Cannot write ${output}: it must not exist, got a file; choose another name`);
  });
  const rows = text.split('\n').length - 1;
  const told = `Wrote ${rows} ${rows === 1 ? 'row' : 'rows'} to ${output}`;
  process.stdout.write(`${json ? JSON.stringify({ rows, output }) : told}\n`);
}
