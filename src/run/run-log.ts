import { JsonlWriter } from './jsonl-writer.ts';

/** A line of `log.jsonl`: what became of a run, in plain words. */
export interface LogRow {
  readonly time: string;
  readonly step: number;
  readonly type: 'start' | 'resume' | 'plan' | 'warning' | 'checkpoint' | 'control' | 'end';
  readonly message: string;
}

/** Adds a row with the time to a run's log. Rows are rare: each is on the disk when this returns. */
export function appendLogRow(path: string, row: Omit<LogRow, 'time'>): void {
  const writer = new JsonlWriter(path);
  try {
    writer.append({ time: new Date().toISOString(), ...row });
    writer.sync();
  } finally {
    writer.close();
  }
}
