import { createInterface } from 'node:readline';

/** The work of a measured process, whose other side is `UpdateProcess`. */
export interface UpdateServer {
  /** Facts that are known after the warm-up update. */
  readonly ready: object;
  /** Runs one update and returns its times. */
  update(): Promise<object>;
  /** Facts about all updates. */
  finish(): Promise<object>;
}

/** Prints a JSON line once ready, one for each line of stdin, and one at the end of stdin. */
export async function serveUpdates({ ready, update, finish }: UpdateServer): Promise<void> {
  console.log(JSON.stringify(ready));
  for await (const _ of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await update()));
  }
  console.log(JSON.stringify(await finish()));
}

/** Peak resident memory of this process. */
export function peakMegabytes(): number {
  return Math.round(process.resourceUsage().maxRSS / 1024);
}
