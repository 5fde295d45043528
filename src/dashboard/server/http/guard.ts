import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP, isIPv4 } from 'node:net';
import { hostname } from 'node:os';
import type { MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { RequestError } from './request-error.ts';

/** Largest request body in bytes. */
const MAX_BODY = 64 * 1024;

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
  // The files change with the version, and other people may use this machine.
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

/** Sets headers that forbid foreign scripts, loading, embedding and caching. */
export const secureHeaders: MiddlewareHandler = async (context, next) => {
  await next();
  for (const [name, value] of Object.entries(headers)) context.header(name, value);
};

/** Rejects requests with a host name that is not the server's own. */
export function checkHost(bound: string): MiddlewareHandler {
  return async (context, next) => {
    if (!isOwnHost(context.req.header('host'), bound)) {
      throw new RequestError(403, 'Unknown host name: open the address that the terminal shows');
    }
    await next();
  };
}

/** Rejects requests from other pages to the API and requests that change something. Programs other
 *  than browsers send neither header. */
export const checkOrigin: MiddlewareHandler = async ({ req }, next) => {
  const { method, path } = req;
  const isRead = method === 'GET' || method === 'HEAD';
  if (!isRead && method !== 'POST') throw new RequestError(405, 'Only GET and POST are supported');
  if (!isRead || path.startsWith('/api/')) {
    const site = req.header('sec-fetch-site');
    const isOwn = site === undefined || site === 'same-origin' || (isRead && site === 'none');
    const origin = req.header('origin');
    if (!isOwn || (origin !== undefined && origin !== `http://${req.header('host')}`)) {
      throw new RequestError(403, 'Requests from other pages are not allowed');
    }
  }
  await next();
};

/** Accepts only JSON, which forms of other pages cannot send. */
export const checkContentType: MiddlewareHandler = async ({ req }, next) => {
  const type = req.header('content-type') ?? '';
  if (req.method === 'POST' && !/^application\/json\s*(;|$)/i.test(type)) {
    throw new RequestError(415, 'The content type must be application/json');
  }
  await next();
};

/** Accepts bodies of limited length. They must announce it, as those of browsers do. */
export const limitBody: MiddlewareHandler = async ({ req }, next) => {
  if (req.header('transfer-encoding') !== undefined) {
    throw new RequestError(411, 'The body must have a Content-Length');
  }
  if (Number(req.header('content-length') ?? 0) > MAX_BODY) {
    throw new RequestError(413, `The body must have at most ${MAX_BODY} bytes`);
  }
  await next();
};

/** Addresses that mean all interfaces of the machine. */
const anyAddress = ['0.0.0.0', '::'];

const hostPattern = /^(?:\[([\da-f:.]+)\]|([a-z\d._-]+))(?::\d{1,5})?$/;

/** Whether only this machine can reach a server bound to a host.
 *  @example 127.0.0.1, ::1, localhost  →  true; 0.0.0.0, 192.168.0.7  →  false */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

/** Whether a Host header names this server: a loopback name or the bound host. This stops DNS
 *  rebinding, where the name of another site resolves to this machine. A server on all interfaces also
 *  accepts any IP address and the machine's host name.
 *  @example 'evil.example:6060', bound to 127.0.0.1  →  false */
export function isOwnHost(header: string | undefined, bound: string): boolean {
  const [, address, word] = hostPattern.exec(header?.toLowerCase() ?? '') ?? [];
  const name = address ?? word;
  if (name === undefined) return false;
  if (isLoopback(name) || name === bound.toLowerCase()) return true;
  return anyAddress.includes(bound) && (isIP(name) !== 0 || name === hostname().toLowerCase());
}

/** A host as part of a URL; a server on all interfaces is reached by the loopback address.
 *  @example ::1  →  [::1], 0.0.0.0  →  127.0.0.1 */
export function urlHost(bound: string): string {
  if (anyAddress.includes(bound)) return '127.0.0.1';
  return isIP(bound) === 6 ? `[${bound}]` : bound;
}

/** Requires the token: first in the URL (`?token=`), then in a cookie that scripts cannot read and
 *  other sites cannot send. Browsers share cookies between ports, so its name contains the port. */
export function requireToken(token: string, port: number): MiddlewareHandler {
  const name = `proximal-${port}`;
  return async (context, next) => {
    const given = context.req.query('token');
    if (given !== undefined && isEqual(given, token)) {
      setCookie(context, name, token, { httpOnly: true, sameSite: 'Strict', path: '/' });
      if (context.req.method !== 'GET' || context.req.path !== '/') return next();
      // Removes the token from the address bar and the browser's history.
      return context.redirect('/', 303);
    }
    if (isEqual(getCookie(context, name) ?? '', token)) return next();
    throw new RequestError(
      401,
      'A token is required: open the full address that the terminal shows, or add ?token= and your token',
    );
  };
}

/** Compares in constant time, so that timing reveals nothing about the token. */
function isEqual(a: string, b: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}
