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
const ownFolder = toPath(import.meta.url).replace(/[^/]*\/[^/]*$/, '');

/** File and line of the innermost call in the user's own code.
 *  @example '    at score (/home/me/reward.ts:7:9)'  →  'reward.ts:7' in /home/me */
function findPlace(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  for (const line of (thrown.stack ?? '').split('\n')) {
    const [, location, number] = /^\s+at (?:.*? \()?(.+?):(\d+):\d+\)?$/.exec(line) ?? [];
    if (location === undefined) continue;
    const file = toPath(location);
    if (!isAbsolute(file) || file.startsWith(ownFolder)) continue;
    if (/[\\/]node_modules[\\/]/.test(file)) continue;
    return `${shorten(file)}:${number}`;
  }
  return undefined;
}

/** The path of a `file:` URL, with forward slashes; anything else is unchanged.
 *  @example 'file:///C:/my%20code/a.ts'  →  'C:/my code/a.ts' */
function toPath(location: string): string {
  if (!location.startsWith('file:')) return location;
  return decodeURIComponent(new URL(location).pathname).replace(/^\/(?=[A-Za-z]:\/)/, '');
}

function isAbsolute(path: string): boolean {
  return /^([A-Za-z]:)?[\\/]/.test(path);
}

/** A path inside the current folder is relative. A browser has no current folder. */
function shorten(file: string): string {
  const { process } = globalThis as { readonly process?: { cwd(): string } };
  const folder = process === undefined ? undefined : `${process.cwd()}/`;
  const isInside = folder !== undefined && slashes(file).startsWith(slashes(folder));
  return isInside ? file.slice(folder.length) : file;
}

function slashes(path: string): string {
  return path.replaceAll('\\', '/');
}
