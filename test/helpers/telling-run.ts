import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { TrainEvent } from '../../src/loop/events.ts';
import { type CliResult, endOf, startCli } from './run-cli.ts';

export interface TellingRun {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<CliResult>;
  /** The first event of this kind that has not been waited for yet, of a run with --json. */
  until(isIt: (event: TrainEvent) => boolean): Promise<TrainEvent>;
  /** Waits for a text on standard error. */
  untilText(pattern: RegExp): Promise<void>;
}

/** Starts `proximal` as a process of its own whose output can be waited for. */
export function startTelling(...args: string[]): TellingRun {
  const child = startCli(...args);
  const told = { stdout: '', stderr: '' };
  const waiting = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      told[name] += chunk.toString();
      for (const look of waiting) look();
    });
  }
  const ended = endOf(child);
  const find = <T>(look: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const again = () => {
        const found = look();
        if (found === undefined) return;
        waiting.delete(again);
        resolve(found);
      };
      waiting.add(again);
      again();
      void ended.then(() => reject(new Error(`It ended before: ${told.stderr}`)));
    });
  let seen = 0;
  return {
    child,
    ended,
    until: (isIt) =>
      find(() => {
        const lines = told.stdout.split('\n').slice(0, -1);
        while (seen < lines.length) {
          const event = JSON.parse(lines[seen++]!) as TrainEvent;
          if (isIt(event)) return event;
        }
        return undefined;
      }),
    untilText: async (pattern) => {
      await find(() => (pattern.test(told.stderr) ? true : undefined));
    },
  };
}
