import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** The same for a shell. */
export const cliCommand = `${process.execPath} --import tsx ${main}`;

/** Starts `proximal` as a process of its own. */
export function startCli(...args: string[]): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, ['--import', 'tsx', main, ...args], {
    env: { ...process.env, PROXIMAL_DEBUG: '', HF_HUB_OFFLINE: '1' },
  });
}

export interface CliResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Waits for the end of a process and gives all that it wrote. */
export async function endOf(child: ChildProcessWithoutNullStreams): Promise<CliResult> {
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { status, stdout, stderr };
}

/** Runs `proximal` to its end. */
export function runCli(...args: string[]): Promise<CliResult> {
  const child = startCli(...args);
  child.stdin.end();
  return endOf(child);
}
