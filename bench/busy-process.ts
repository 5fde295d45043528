import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Keeps one core busy, and ends with the process that started it. */
const BUSY_LOOP = `
  const spin = () => {
    const end = performance.now() + 50;
    while (performance.now() < end);
    setImmediate(spin);
  };
  process.stdin.on('end', () => process.exit()).resume();
  spin();
`;

/** Runs work next to another process that keeps one core busy, and ends that process. */
export async function besideBusyProcess<T>(work: (processId: number) => Promise<T>): Promise<T> {
  const child = spawn(process.execPath, ['-e', BUSY_LOOP], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  try {
    return await work(child.pid!);
  } finally {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
}
