import { mkdir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { parseJsonObject, readTextIfExists, statIfExists, writeAtomically } from '../fs/index.ts';

/** The file that marks a folder as one of the demo. */
const settingsName = 'demo.json';

const settingsSchema = z.strictObject({
  seed: z.int().default(0),
  /** Fewer steps and posts, to check that everything works. */
  short: z.boolean().default(false),
  /** β of PPO. */
  klCoef: z.number().min(0).default(0.1),
});

/** What the user can choose; a resumed demo continues with the same settings. */
export type DemoSettings = z.input<typeof settingsSchema>;

/** A folder with the runs of a demo, and their settings. */
export interface DemoFolder extends z.output<typeof settingsSchema> {
  readonly path: string;
}

/** Creates the folder of a new demo; one that contains files is rejected. */
export async function createDemoFolder(
  folder: string,
  settings: DemoSettings = {},
): Promise<DemoFolder> {
  const path = resolve(folder);
  await expectNew(folder);
  await mkdir(path, { recursive: true });
  const complete = settingsSchema.parse(settings);
  await writeAtomically(join(path, settingsName), `${JSON.stringify(complete, undefined, 2)}\n`);
  return { path, ...complete };
}

/** Opens the folder of a demo that was stopped. */
export async function openDemoFolder(folder: string): Promise<DemoFolder> {
  const path = resolve(folder);
  const file = join(path, settingsName);
  const text = await readTextIfExists(file);
  if (text === undefined) {
    throw new Error(
      `Cannot resume the demo in ${folder}: the folder must contain ${settingsName}, got none; check the path, or start a new demo without --resume`,
    );
  }
  const { data, error } = settingsSchema.safeParse(parseJsonObject(text, file));
  if (data !== undefined) return { path, ...data };
  const [issue] = error.issues as [z.core.$ZodIssue];
  throw new TypeError(
    `Cannot read ${file}: it must hold the settings of a demo (${issue.path.join('.')}: ${issue.message}); start a new demo`,
  );
}

async function expectNew(folder: string): Promise<void> {
  const stats = await statIfExists(folder);
  if (stats === undefined) return;
  if (!stats.isDirectory()) {
    throw new Error(
      `Cannot start the demo in ${folder}: it must be a folder, got a file; choose another --output`,
    );
  }
  const names = await readdir(folder);
  if (names.length === 0) return;
  const isDemo = names.includes(settingsName);
  throw new Error(
    isDemo
      ? `Cannot start the demo in ${folder}: the folder must be new or empty, got one of an earlier demo; continue that one with --resume ${folder}, or choose another --output`
      : `Cannot start the demo in ${folder}: the folder must be new or empty, got one with files; choose another --output`,
  );
}
