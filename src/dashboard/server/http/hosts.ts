import { isIP, isIPv4 } from 'node:net';
import { hostname } from 'node:os';

/** Every address of the machine. */
const anyAddress = ['0.0.0.0', '::'];

const hostPattern = /^(?:\[([\da-f:.]+)\]|([a-z\d._-]+))(?::\d{1,5})?$/;

/** Whether only this machine reaches a server that is bound to a host.
 *  @example 127.0.0.1, ::1, localhost  →  true; 0.0.0.0, 192.168.0.7  →  false */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

/** Whether a Host header names this server: a loopback name, or what the server is bound to. Pages of
 *  others whose names are made to lead here (DNS rebinding) send those names. A server on every
 *  address is also known by any address, which no name was made of, and by the machine's name.
 *  @example 'evil.example:6060', bound to 127.0.0.1  →  false */
export function isOwnHost(header: string | undefined, bound: string): boolean {
  const [, address, word] = hostPattern.exec(header?.toLowerCase() ?? '') ?? [];
  const name = address ?? word;
  if (name === undefined) return false;
  if (isLoopback(name) || name === bound.toLowerCase()) return true;
  return anyAddress.includes(bound) && (isIP(name) !== 0 || name === hostname().toLowerCase());
}

/** A host as it stands in a URL; a server on every address is reached by the loopback one.
 *  @example ::1  →  [::1], 0.0.0.0  →  127.0.0.1 */
export function urlHost(bound: string): string {
  if (anyAddress.includes(bound)) return '127.0.0.1';
  return isIP(bound) === 6 ? `[${bound}]` : bound;
}
