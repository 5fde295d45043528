import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { ReadStream } from 'node:tty';
import { isPauseRequested, type RunCommand, requestControl } from '../run/run-control.ts';

/** Help for the keys that control a run in its own terminal. */
export const keyHelp = 'Keys: p pause or continue, s save, q stop after this step';

/** Keys that the terminal turns into signals, unless it is in raw mode. */
const terminalKeys = { '\x03': 'SIGINT', '\x1a': 'SIGTSTP', '\x1c': 'SIGQUIT' } as const;

/** Controls a run with keys in the terminal that it was started from. */
export class RunKeys {
  private readonly folder: string;
  private readonly print: (line: string) => void;
  private readonly input: ReadStream = process.stdin;

  /** Starts reading keys; undefined if there is no terminal or another process uses it. */
  static open(folder: string, print: (line: string) => void): RunKeys | undefined {
    if (!process.stdin.isTTY || !isInForeground()) return undefined;
    const keys = new RunKeys(folder, print);
    keys.input.on('data', keys.read).on('error', ignore);
    process.on('SIGCONT', keys.takeTerminal);
    keys.takeTerminal();
    return keys;
  }

  private constructor(folder: string, print: (line: string) => void) {
    this.folder = folder;
    this.print = print;
  }

  /** Restores the terminal. */
  close(): void {
    process.off('SIGCONT', this.takeTerminal);
    this.input.off('data', this.read);
    this.leaveTerminal();
    this.input.off('error', ignore);
  }

  /** The system would stop a background process as soon as it reads. */
  private readonly takeTerminal = () => {
    if (!isInForeground()) return;
    this.input.setRawMode(true);
    this.input.resume();
  };

  private leaveTerminal(): void {
    this.input.setRawMode(false);
    this.input.pause();
  }

  private readonly read = (bytes: Buffer) => {
    for (const key of bytes.toString()) {
      if (key in terminalKeys) this.raise(terminalKeys[key as keyof typeof terminalKeys]);
      else if (key === 'p') this.send(isPauseRequested(this.folder) ? 'resume' : 'pause');
      else if (key === 's') this.send('save');
      else if (key === 'q') this.send('stop');
    }
  };

  /** Sends the signal that the terminal would send, to all processes of the command. */
  private raise(signal: (typeof terminalKeys)[keyof typeof terminalKeys]): void {
    if (signal === 'SIGTSTP') this.leaveTerminal();
    process.kill(0, signal);
  }

  private send(command: RunCommand): void {
    const answers = {
      pause: 'Pausing before the next step; press p to continue',
      resume: 'Continuing',
      save: 'Saving after this step',
      stop: 'Stopping after this step',
    };
    requestControl(this.folder, command).then(
      () => this.print(answers[command]),
      (error: Error) => this.print(error.message),
    );
  }
}

/** A terminal that was closed can neither be read nor restored; the run gets SIGHUP. */
function ignore(): void {}

/** Whether this process may read from the terminal. */
function isInForeground(): boolean {
  if (process.platform === 'win32') return true;
  const [own, foreground] = readProcessGroups();
  return own !== undefined && own === foreground;
}

/** The process group of this process, and the one in the foreground of its terminal. */
function readProcessGroups(): (string | undefined)[] {
  if (process.platform === 'linux') {
    // The command's name, in parentheses, may contain spaces. State and parent come before the group.
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return [fields[2], fields[5]];
  }
  const { stdout } = spawnSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)]);
  return String(stdout ?? '')
    .trim()
    .split(/\s+/);
}
