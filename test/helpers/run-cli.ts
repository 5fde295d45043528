import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** The command line of `proximal` for a shell. */
export const cliCommand = `${process.execPath} --import tsx ${main}`;

/** Starts `proximal` in a new process. */
export function startCli(...args: string[]): ChildProcessWithoutNullStreams {
  return startCliAs(undefined, ...args);
}

/** Starts `proximal` as another user of the system. */
export function startCliAs(
  uid: number | undefined,
  ...args: string[]
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, ['--import', 'tsx', main, ...args], {
    env: { ...process.env, PROXIMAL_DEBUG: '', HF_HUB_OFFLINE: '1' },
    uid,
  });
}

export interface CliResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Waits until a process ends and returns its output. */
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

/** Runs `proximal` in a new process until it ends. */
export function runCli(...args: string[]): Promise<CliResult> {
  const child = startCli(...args);
  child.stdin.end();
  return endOf(child);
}

/** Runs `proximal` in this process, which is much faster. Calls must not overlap. */
export async function runInProcess(...args: string[]): Promise<CliResult> {
  const output = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      output[name] += String(text);
      return true;
    }),
  );
  vi.stubEnv('PROXIMAL_DEBUG', '');
  vi.stubEnv('HF_HUB_OFFLINE', '1');
  try {
    return { status: await runProgram(args), ...output };
  } finally {
    for (const spy of spies) spy.mockRestore();
    vi.unstubAllEnvs();
  }
}
