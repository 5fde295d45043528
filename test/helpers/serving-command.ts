import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { onTestFinished, vi } from 'vitest';
import { type CliResult, endOf, startCli } from './run-cli.ts';

export interface ServingCommand {
  readonly child: ChildProcessWithoutNullStreams;
  readonly end: Promise<CliResult>;
  /** The address of its dashboard. */
  readonly url: string;
}

/** Starts a command, which does not outlive the test, and waits for the address that it prints. */
export async function startServing(
  stream: 'stdout' | 'stderr',
  ...args: string[]
): Promise<ServingCommand> {
  const child = startCli(...args);
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  child[stream].on('data', (chunk: Buffer) => {
    text += chunk;
  });
  const end = endOf(child);
  const url = await vi.waitFor(
    () => {
      const [, found] = /Dashboard: (\S+).*\n/.exec(text) ?? [];
      if (found === undefined) throw new Error(`No address in ${JSON.stringify(text)}`);
      return found;
    },
    { timeout: 60_000, interval: 50 },
  );
  return { child, end, url };
}
