import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { isOwnHost } from './hosts.ts';
import { Refusal } from './refusal.ts';

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
