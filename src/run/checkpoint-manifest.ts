import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { statIfExists } from '../fs/index.ts';

/** The file of a checkpoint that vouches for the others. */
const manifestName = 'manifest.json';

const fileFactsSchema = z.strictObject({ size: z.int().min(0), sha256: z.string().length(64) });

const manifestSchema = z.strictObject({
  format: z.literal(1),
  step: z.int().min(0),
  isBest: z.boolean(),
  /** Every other file by its path from the checkpoint's folder, with slashes. */
  files: z.record(z.string(), fileFactsSchema),
});

export type CheckpointManifest = Readonly<z.output<typeof manifestSchema>>;

/** Writes the manifest of a folder whose other files are complete. */
export async function writeManifest(
  folder: string,
  { step, isBest }: { step: number; isBest: boolean },
): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const paths = entries.filter((entry) => entry.isFile()).map((it) => join(it.parentPath, it.name));
  const files: Record<string, z.output<typeof fileFactsSchema>> = {};
  for (const path of paths.toSorted()) {
    const size = (await statIfExists(path))!.size;
    files[relative(folder, path).split(sep).join('/')] = { size, sha256: await hashFile(path) };
  }
  const manifest: CheckpointManifest = { format: 1, step, isBest, files };
  const json = `${JSON.stringify(manifest, undefined, 2)}\n`;
  await writeFile(join(folder, manifestName), json, { flag: 'wx' });
}

/** The manifest of the checkpoint of a step, or what is wrong with it, as in `manifest.json is missing`. */
export async function readManifest(
  folder: string,
  step: number,
): Promise<CheckpointManifest | string> {
  const path = join(folder, manifestName);
  if ((await statIfExists(path)) === undefined) return `${manifestName} is missing`;
  const manifest = parseManifest(await readFile(path, 'utf8'));
  if (typeof manifest === 'string' || manifest.step === step) return manifest;
  return `${manifestName} must be of step ${step}, got ${manifest.step}`;
}

function parseManifest(text: string): CheckpointManifest | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return `${manifestName} must be JSON (${(error as SyntaxError).message})`;
  }
  const { data, error } = manifestSchema.safeParse(json);
  if (data !== undefined) return data;
  const [issue] = error.issues as [z.core.$ZodIssue];
  return `${manifestName} must have the form of this version (${issue.path.join('.')}: ${issue.message})`;
}

/** What is wrong with the first file that is not as the manifest says; undefined if all are. */
export async function findDamage(
  folder: string,
  { files }: CheckpointManifest,
): Promise<string | undefined> {
  for (const [name, { size, sha256 }] of Object.entries(files)) {
    const path = join(folder, name);
    const stats = await statIfExists(path);
    if (stats === undefined) return `${name} is missing`;
    if (stats.size !== size) return `${name} must have ${size} bytes, got ${stats.size}`;
    if ((await hashFile(path)) !== sha256) {
      return `${name} must have the SHA-256 of ${manifestName}, got another: its bytes have changed`;
    }
  }
  return undefined;
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
