import { readdir, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { z } from 'zod';
import { hashFile, readOwnText, statIfExists } from '../fs/index.ts';

/** The file of a checkpoint that lists all others with their checksums. */
const manifestName = 'manifest.json';

/** Characters of a wrong name that errors show. */
const SHOWN = 40;

const fileSchema = z.strictObject({ size: z.int().min(0), sha256: z.string().length(64) });

const manifestSchema = z.strictObject({
  format: z.literal(1),
  step: z.int().min(0),
  isBest: z.boolean(),
  /** Every other file by its path within the checkpoint, with forward slashes. */
  files: z.record(z.string(), fileSchema),
});

export type CheckpointManifest = Readonly<z.output<typeof manifestSchema>>;

/** Writes the manifest of a folder whose other files are complete. */
export async function writeManifest(
  folder: string,
  { step, isBest }: { step: number; isBest: boolean },
): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const paths = entries.filter((entry) => entry.isFile()).map((it) => join(it.parentPath, it.name));
  const files: Record<string, z.output<typeof fileSchema>> = {};
  for (const path of paths.toSorted()) {
    const size = (await statIfExists(path))!.size;
    files[relative(folder, path).split(sep).join('/')] = { size, sha256: await hashFile(path) };
  }
  const manifest: CheckpointManifest = { format: 1, step, isBest, files };
  const json = `${JSON.stringify(manifest, undefined, 2)}\n`;
  await writeFile(join(folder, manifestName), json, { flag: 'wx' });
}

/** The manifest of a step's checkpoint, or what is wrong with it, such as `manifest.json is missing`. */
export async function readManifest(
  folder: string,
  step: number,
): Promise<CheckpointManifest | string> {
  const text = await readOwnText(join(folder, manifestName));
  if (text === undefined) return `${manifestName} is missing`;
  const manifest = parseManifest(text);
  if (typeof manifest === 'string' || manifest.step === step) return manifest;
  return `${manifestName} must be for step ${step}, got ${manifest.step}`;
}

function parseManifest(text: string): CheckpointManifest | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return `${manifestName} must be JSON (${(error as SyntaxError).message})`;
  }
  const { data, error } = manifestSchema.safeParse(json);
  if (data !== undefined) {
    const bad = Object.keys(data.files).find((name) => !isInside(name));
    if (bad === undefined) return data;
    return `${manifestName} must list files of the checkpoint, got "${bad.slice(0, SHOWN)}"`;
  }
  const [issue] = error.issues as [z.core.$ZodIssue];
  return `${manifestName} must be in the format of this version (${issue.path.join('.')}: ${issue.message})`;
}

/** Whether a path can be that of a file within the checkpoint. */
function isInside(path: string): boolean {
  return path
    .split('/')
    .every((part) => /^[^\0\\]{1,255}$/.test(part) && part !== '.' && part !== '..');
}

/** What is wrong with the first file that does not match the manifest; undefined if all match. */
export async function findDamage(
  folder: string,
  { files }: CheckpointManifest,
): Promise<string | undefined> {
  for (const [name, { size, sha256 }] of Object.entries(files)) {
    const path = join(folder, name);
    const stats = await statIfExists(path);
    if (stats === undefined) return `${name} is missing`;
    if (!stats.isFile()) return `${name} must be a regular file`;
    if (stats.size !== size) return `${name} must have ${size} bytes, got ${stats.size}`;
    if ((await hashFile(path)) !== sha256) {
      return `${name} must have the SHA-256 in ${manifestName}, got another: its bytes have changed`;
    }
  }
  return undefined;
}
