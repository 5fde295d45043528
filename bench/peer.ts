import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Runs a script of tools/oracle/bench and returns the JSON on its last line. */
export function runPeer(python: string, script: string, ...args: string[]): object {
  const path = fileURLToPath(new URL(`../tools/oracle/bench/${script}`, import.meta.url));
  const { status, stdout, stderr } = spawnSync(python, [path, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`Cannot run the peer with ${python}: ${stderr}`);
  return JSON.parse(stdout.trim().split('\n').at(-1) as string);
}
