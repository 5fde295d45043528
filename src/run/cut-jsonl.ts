import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { AtomicFile, splitLines, statIfExists } from '../fs/index.ts';

/** Removes the lines of later steps from a log, so that a resumed run writes them again; the file
 *  is replaced as a whole, or removed if nothing is left. A last line that a crash tore is dropped.
 *  @example lines of steps 1, 2, 3 and `{"st`, lastStep 2  →  lines of steps 1, 2 */
export async function cutJsonl(path: string, lastStep: number): Promise<void> {
  if ((await statIfExists(path)) === undefined) return;
  const file = await AtomicFile.create(path);
  try {
    let [number, size] = [0, 0];
    const chunks = createReadStream(path) as AsyncIterable<Buffer>;
    for await (const { bytes, isComplete } of splitLines(chunks)) {
      number++;
      const step = readStep(bytes);
      if (step === undefined && !isComplete) continue;
      if (step === undefined) throw describeBadLine({ path, number, bytes });
      if (step > lastStep) continue;
      const line = Buffer.concat([bytes, Buffer.from('\n')]);
      await file.write(line, size);
      size += line.length;
    }
    if (size === 0) return await rm(path);
    await file.finish();
    await file.commit();
  } finally {
    await file.discard();
  }
}

/** The step of a record; undefined if there is none. */
function readStep(bytes: Buffer): number | undefined {
  let record: unknown;
  try {
    record = JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
  const { step } = (record ?? {}) as { step?: unknown };
  return typeof step === 'number' ? step : undefined;
}

function describeBadLine(of: { path: string; number: number; bytes: Buffer }): Error {
  const start = JSON.stringify(of.bytes.toString().slice(0, 40));
  return new SyntaxError(
    `Cannot resume from ${of.path} line ${of.number}: it must be JSON with a "step", got ${start}; ` +
      `mend the line or delete it from ${basename(of.path)}`,
  );
}
