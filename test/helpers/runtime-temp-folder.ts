import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder that goes away with the test that runs. */
export function makeTempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'proximal-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
