import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

// Each test file is a user of its own: it records the reward files that it runs in its own folder.
const folder = mkdtempSync(join(tmpdir(), 'proximal-trust-'));
process.env.PROXIMAL_TRUST_FOLDER = folder;
afterAll(() => rmSync(folder, { recursive: true, force: true }));
