/** Runs the slow tests; a script because setting a variable inline is not portable across shells. */
import { spawnSync } from 'node:child_process';

const { status } = spawnSync('npx', ['vitest', 'run', ...process.argv.slice(2)], {
  env: { ...process.env, TEST_GROUP: 'slow' },
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
process.exit(status ?? 1);
