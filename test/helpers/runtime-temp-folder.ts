import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder that is removed after the current test. */
export function makeTempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'proximal-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
