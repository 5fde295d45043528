import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { Refusal } from './refusal.ts';

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
