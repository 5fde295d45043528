import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { explainSystemError } from './system-error.ts';

/** A file that only grows. Each call ends when the system has the bytes, so they come in the order
 *  of the calls and outlive the process. */
export class AppendFile {
  private readonly path: string;
  private readonly descriptor: number;
  private isOpen = true;

  constructor(path: string) {
    this.path = path;
    this.descriptor = this.attempt(() => openSync(path, 'a'));
  }

  append(bytes: Uint8Array): void {
    this.attempt(() => {
      for (let done = 0; done < bytes.length; ) done += writeSync(this.descriptor, bytes, done);
    });
  }

  /** Brings all that was written to the disk. */
  sync(): void {
    this.attempt(() => fsyncSync(this.descriptor));
  }

  /** May be called twice. */
  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    closeSync(this.descriptor);
  }

  private attempt<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      throw explainSystemError(error, { action: `write ${this.path}`, next: 'resume the run' });
    }
  }
}
