import { mkdirSync, readdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { AppendFile } from '../append-file.ts';
import {
  type EventContent,
  encodeFileVersion,
  encodeSessionStart,
  encodeSummary,
} from './event.ts';
import { frameRecord } from './tfrecord.ts';

export interface EventWriterOptions {
  /** Steps already made, if the run was resumed: TensorBoard drops what older files say of later ones. */
  readonly resumedStep?: number | undefined;
}

/** Writes a new event file for TensorBoard in a folder. */
export class EventWriter {
  private readonly file: AppendFile;

  constructor(folder: string, { resumedStep }: EventWriterOptions = {}) {
    mkdirSync(folder, { recursive: true });
    this.file = new AppendFile(join(folder, nameFile(folder)));
    this.file.append(frameRecord(encodeFileVersion(now())));
    if (resumedStep === undefined) return;
    this.file.append(frameRecord(encodeSessionStart({ wallTime: now(), step: resumedStep + 1 })));
  }

  write(step: number, content: EventContent): void {
    this.file.append(frameRecord(encodeSummary({ wallTime: now(), step }, content)));
  }

  /** Brings all that was written to the disk. */
  sync(): void {
    this.file.sync();
  }

  close(): void {
    this.file.close();
  }
}

function now(): number {
  return Date.now() / 1000;
}

/** TensorBoard's name for an event file. It reads files in the order of their names, so a file
 *  that is made in the same second as the last one gets a later second. */
function nameFile(folder: string): string {
  const taken = readdirSync(folder).map((name) => Number(/tfevents\.(\d+)/.exec(name)?.[1] ?? 0));
  const second = Math.max(Math.floor(now()), ...taken.map((last) => last + 1));
  return `events.out.tfevents.${String(second).padStart(10, '0')}.${hostname()}.${process.pid}.0`;
}
