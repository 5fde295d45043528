import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { ReadStream } from 'node:tty';
import { isPauseRequested, type RunCommand, requestControl } from '../run/run-control.ts';

/** What the keys of a run's own terminal do. */
export const keyHelp = 'Keys: p pauses and goes on, s saves, q stops after this step';

/** What the terminal does itself, unless each key is read as it is pressed. */
const terminalKeys = { '\x03': 'SIGINT', '\x1a': 'SIGTSTP', '\x1c': 'SIGQUIT' } as const;

/** Steers a run by keys of the terminal that it was started from. */
export class RunKeys {
  private readonly folder: string;
  private readonly print: (line: string) => void;
  private readonly input: ReadStream = process.stdin;

  /** Reads keys from now on; undefined where there is no terminal, or another process has it. */
  static open(folder: string, print: (line: string) => void): RunKeys | undefined {
    if (!process.stdin.isTTY || !isInForeground()) return undefined;
    const keys = new RunKeys(folder, print);
    keys.input.on('data', keys.read);
    process.on('SIGCONT', keys.takeTerminal);
    keys.takeTerminal();
    return keys;
  }

  private constructor(folder: string, print: (line: string) => void) {
    this.folder = folder;
    this.print = print;
  }

  /** Leaves the terminal as it was. */
  close(): void {
    process.off('SIGCONT', this.takeTerminal);
    this.input.off('data', this.read);
    this.leaveTerminal();
  }

  /** A process in the background would be stopped as soon as it reads. */
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
      else if (key === 'p') this.ask(isPauseRequested(this.folder) ? 'resume' : 'pause');
      else if (key === 's') this.ask('save');
      else if (key === 'q') this.ask('stop');
    }
  };

  /** Does what the terminal would do, to all processes of the command. */
  private raise(signal: (typeof terminalKeys)[keyof typeof terminalKeys]): void {
    if (signal === 'SIGTSTP') this.leaveTerminal();
    process.kill(0, signal);
  }

  private ask(command: RunCommand): void {
    const answers = {
      pause: 'Pausing before the next step; p goes on',
      resume: 'Going on',
      save: 'Saving after this step',
      stop: 'Ending after this step',
    };
    requestControl(this.folder, command).then(
      () => this.print(answers[command]),
      (error: Error) => this.print(error.message),
    );
  }
}

/** Whether the terminal is this process's to read. */
function isInForeground(): boolean {
  if (process.platform === 'win32') return true;
  const [own, terminals] = readProcessGroups();
  return own !== undefined && own === terminals;
}

/** The process group of this process, and the one in the foreground of its terminal. */
function readProcessGroups(): (string | undefined)[] {
  if (process.platform === 'linux') {
    // The command's name, in brackets, may hold spaces; state and parent stand before the group.
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
