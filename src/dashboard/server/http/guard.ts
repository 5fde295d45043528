import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP, isIPv4 } from 'node:net';
import { hostname } from 'node:os';
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie, setCookie } from 'hono/cookie';
import { Refusal } from './request-error.ts';

/** Bytes of a request's body at most. */
const MOST_BYTES = 64 * 1024;

const headers = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  // The next look may be at another version, and others may use this machine.
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

/** Tells browsers to run, load and embed nothing of others, and to keep nothing. */
export const secureHeaders: MiddlewareHandler = async (context, next) => {
  await next();
  for (const [name, value] of Object.entries(headers)) context.header(name, value);
};

/** Refuses requests under another name than the server's own. */
export function checkHost(bound: string): MiddlewareHandler {
  return async (context, next) => {
    if (!isOwnHost(context.req.header('host'), bound)) {
      throw new Refusal(403, 'This is another host: open the address that the terminal shows');
    }
    await next();
  };
}

/** Refuses what pages of others ask for: whatever changes something, and all of the API. Programs
 *  other than browsers send neither header. */
export const checkOrigin: MiddlewareHandler = async ({ req }, next) => {
  const { method, path } = req;
  const isRead = method === 'GET' || method === 'HEAD';
  if (!isRead && method !== 'POST') throw new Refusal(405, 'Only GET and POST are understood');
  if (!isRead || path.startsWith('/api/')) {
    const site = req.header('sec-fetch-site');
    const isOurs = site === undefined || site === 'same-origin' || (isRead && site === 'none');
    const origin = req.header('origin');
    if (!isOurs || (origin !== undefined && origin !== `http://${req.header('host')}`)) {
      throw new Refusal(403, 'Another page asked for this: only the dashboard itself may');
    }
  }
  await next();
};

/** Lets only JSON in, which forms of other pages cannot send. */
export const checkContentType: MiddlewareHandler = async ({ req }, next) => {
  const type = req.header('content-type') ?? '';
  if (req.method === 'POST' && !/^application\/json\s*(;|$)/i.test(type)) {
    throw new Refusal(415, 'The content type must be application/json');
  }
  await next();
};

export const limitBody: MiddlewareHandler = bodyLimit({
  maxSize: MOST_BYTES,
  onError: () => {
    throw new Refusal(413, `The body must have at most ${MOST_BYTES} bytes`);
  },
});

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

/** Lets in who has the token: first in the address (`?token=`), then in a cookie that scripts cannot
 *  read and other sites cannot send. Browsers share cookies between ports, so its name has the port. */
export function requireToken(token: string, port: number): MiddlewareHandler {
  const name = `proximal-${port}`;
  return async (context, next) => {
    const given = context.req.query('token');
    if (given !== undefined && isEqual(given, token)) {
      setCookie(context, name, token, { httpOnly: true, sameSite: 'Strict', path: '/' });
      if (context.req.method !== 'GET' || context.req.path !== '/') return next();
      // The token leaves the address bar, and with it the browser's history.
      return context.redirect('/', 303);
    }
    if (isEqual(getCookie(context, name) ?? '', token)) return next();
    throw new Refusal(401, 'A token is needed: open the whole address that the terminal shows');
  };
}

/** Takes the same time wherever texts differ, so that it tells nothing of the token. */
function isEqual(a: string, b: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}
