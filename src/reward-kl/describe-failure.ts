import { isAbsolute, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf, type RewardSample } from './reward-source.ts';

/** What a reward threw, on one line, with the place in the user's code if it is known.
 *  @example new TypeError('x is undefined')  →  'x is undefined (TypeError at reward.ts:7)' */
export function describeThrown(thrown: unknown): string {
  const place = findPlace(thrown);
  if (place === undefined) return messageOf(thrown);
  return `${messageOf(thrown)} (${(thrown as Error).name} at ${place})`;
}

/** Quotes a sample for an error.
 *  @example { prompt: 'a b', response: 'c' }  →  'the response is "c", the prompt "a b"' */
export function quoteSample({
  prompt,
  response,
}: Pick<RewardSample, 'prompt' | 'response'>): string {
  return `the response is ${quote(response, 300)}, the prompt ${quote(prompt, 120)}`;
}

function quote(text: string, limit: number): string {
  return text.length <= limit
    ? JSON.stringify(text)
    : `${JSON.stringify(text.slice(0, limit))} and ${text.length - limit} more characters`;
}

/** The folder of this package's code, whose frames say nothing about a user's mistake. */
const ownFolder = fileURLToPath(new URL('..', import.meta.url));

/** File and line of the innermost call in the user's own code.
 *  @example '    at score (/home/me/reward.ts:7:9)'  →  'reward.ts:7' in /home/me */
function findPlace(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  for (const line of (thrown.stack ?? '').split('\n')) {
    const [, location, number] = /^\s+at (?:.*? \()?(.+?):(\d+):\d+\)?$/.exec(line) ?? [];
    if (location === undefined) continue;
    const file = location.startsWith('file:') ? fileURLToPath(location) : location;
    if (!isAbsolute(file) || file.startsWith(ownFolder)) continue;
    if (file.includes(`${sep}node_modules${sep}`)) continue;
    return `${shorten(file)}:${number}`;
  }
  return undefined;
}

/** A path inside the current folder is relative. */
function shorten(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') || isAbsolute(path) ? file : path;
}
