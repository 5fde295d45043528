import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The folder of a run that keeps a job which failed on every worker. */
export const failedJobName = 'failed-job';

interface FailedJob {
  /** What the job was, and why it failed. */
  readonly about: object;
  /** Everything that it read, by name. */
  readonly blobs: Readonly<Record<string, Buffer>>;
}

/** Saves everything that a failed job read. */
export async function saveFailedJob(folder: string, { about, blobs }: FailedJob): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, bytes] of Object.entries(blobs)) {
    await writeFile(join(folder, `${name}.safetensors`), bytes);
  }
  await writeFile(join(folder, 'job.json'), `${JSON.stringify(about, undefined, 2)}\n`);
}
