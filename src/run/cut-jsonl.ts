import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { AtomicFile } from '../base-setup/safetensors/atomic-file.ts';
import { statIfThere } from '../base-setup/safetensors/open-weights.ts';

/** Removes the lines of later steps from a log, so that a resumed run writes them again; the file
 *  is replaced as a whole, or removed if nothing is left. A last line that a crash tore is dropped.
 *  @example lines of steps 1, 2, 3 and `{"st`, lastStep 2  →  lines of steps 1, 2 */
export async function cutJsonl(path: string, lastStep: number): Promise<void> {
  if ((await statIfThere(path)) === undefined) return;
  const file = await AtomicFile.create(path);
  try {
    let [number, size] = [0, 0];
    for await (const { bytes, isWhole } of readLines(path)) {
      number++;
      const step = readStep(bytes);
      if (step === undefined && !isWhole) continue;
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

interface Line {
  /** Without the line feed. */
  readonly bytes: Buffer;
  /** Whether a line feed ends it. */
  readonly isWhole: boolean;
}

/** Splits at line feeds only: JSON may hold other characters that readers of text take for line ends. */
async function* readLines(path: string): AsyncGenerator<Line> {
  let rest: Buffer[] = [];
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      yield { bytes: Buffer.concat([...rest, chunk.subarray(start, end)]), isWhole: true };
      rest = [];
      start = end + 1;
    }
    rest.push(chunk.subarray(start));
  }
  const bytes = Buffer.concat(rest);
  if (bytes.length > 0) yield { bytes, isWhole: false };
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
