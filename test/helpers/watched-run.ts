import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { TrainEvent } from '../../src/loop/events.ts';
import { type CliResult, endOf, startCli } from './run-cli.ts';

export interface WatchedRun {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<CliResult>;
  /** Waits for the next event that matches, in a run with --json. */
  until(matches: (event: TrainEvent) => boolean): Promise<TrainEvent>;
  /** Waits for a text on standard error. */
  untilText(pattern: RegExp): Promise<void>;
}

/** Starts `proximal` in a new process and lets tests wait for its output. */
export function startWatched(...args: string[]): WatchedRun {
  const child = startCli(...args);
  const output = { stdout: '', stderr: '' };
  const checks = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      output[name] += chunk.toString();
      for (const check of checks) check();
    });
  }
  const ended = endOf(child);
  const find = <T>(look: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const check = () => {
        const found = look();
        if (found === undefined) return;
        checks.delete(check);
        resolve(found);
      };
      checks.add(check);
      check();
      void ended.then(() => reject(new Error(`The process ended first: ${output.stderr}`)));
    });
  let seen = 0;
  return {
    child,
    ended,
    until: (matches) =>
      find(() => {
        const lines = output.stdout.split('\n').slice(0, -1);
        while (seen < lines.length) {
          const event = JSON.parse(lines[seen++]!) as TrainEvent;
          if (matches(event)) return event;
        }
        return undefined;
      }),
    untilText: async (pattern) => {
      await find(() => (pattern.test(output.stderr) ? true : undefined));
    },
  };
}
