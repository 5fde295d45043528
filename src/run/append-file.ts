import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { explainSystemError } from './system-error.ts';

/** A file that only grows, and is made by the first bytes. Each call ends when the system has them,
 *  so they come in the order of the calls and outlive the process. */
export class AppendFile {
  private readonly path: string;
  private descriptor: number | undefined;
  private isClosed = false;

  constructor(path: string) {
    this.path = path;
  }

  append(bytes: Uint8Array): void {
    if (this.isClosed) throw new Error(`Internal: ${this.path} is closed`);
    this.attempt(() => {
      this.descriptor ??= openSync(this.path, 'a');
      for (let done = 0; done < bytes.length; ) done += writeSync(this.descriptor, bytes, done);
    });
  }

  /** Brings all that was written to the disk. */
  sync(): void {
    const { descriptor } = this;
    if (descriptor !== undefined && !this.isClosed) this.attempt(() => fsyncSync(descriptor));
  }

  /** May be called twice. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (this.descriptor !== undefined) closeSync(this.descriptor);
  }

  private attempt(run: () => void): void {
    try {
      run();
    } catch (error) {
      throw explainSystemError(error, { action: `write ${this.path}`, next: 'resume the run' });
    }
  }
}
