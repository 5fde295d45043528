/** A URL without credentials, query and fragment, which may be secret, for messages and files. Text
 *  before it stays; a URL without secrets and a text without a URL are unchanged.
 *  @example 'vllm:http://me:pass@host:8000/v1?key=1'  →  'vllm:http://host:8000/v1' */
export function withoutSecrets(url: string | URL): string {
  const text = String(url);
  const colon = text.indexOf('://');
  if (colon < 0) return text;
  const [scheme = ''] = /[a-z][a-z\d+.-]*$/i.exec(text.slice(Math.max(0, colon - 16), colon)) ?? [];
  const start = text.slice(0, colon - scheme.length);
  const address = text.slice(start.length);
  if (!URL.canParse(address)) return start + address.replace(/(?<=:\/\/).*@|[?#].*$/gs, '');
  const { protocol, host, pathname, username, password, search, hash } = new URL(address);
  if (username + password + search + hash === '') return text;
  return `${start}${protocol}//${host}${pathname}`;
}

/** JSON whose texts are shown by `withoutSecrets`; undefined for a value that JSON does not have. */
export function stringifyWithoutSecrets(value: unknown): string | undefined {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'string' ? withoutSecrets(part) : part,
  );
}

const credentials = /(\b[a-z][a-z\d+.-]{0,15}:\/\/)[^\s/"']*@/gi;
const queries = /(\bhttps?:\/\/[^\s?#"']+)\?[^\s"']*/gi;

/** A text whose URLs have no credentials and queries.
 *  @example 'Saved to https://me:pass@host/a?key=1.'  →  'Saved to https://host/a?…' */
export function hideUrlSecrets(text: string): string {
  return text.replace(credentials, '$1').replace(queries, '$1?…');
}

/** A URL that still connects if the password comes from elsewhere.
 *  @example 'rediss://me:secret@host:6379/1'  →  'rediss://me@host:6379/1' */
export function withoutPassword(url: string): string {
  const parsed = new URL(url);
  parsed.password = '';
  return parsed.href;
}

/** Shorter values stay in a server's text: they may be there by chance. */
const SHORTEST_SECRET = 4;

/** A server's text without the secrets that it was sent: error pages often repeat the request.
 *  @example 'cannot POST /score?key=abcd' to a URL with ?key=abcd  →  'cannot POST /score…' */
export function withoutEcho(
  text: string,
  { url, headers }: { readonly url: URL; readonly headers: Headers },
): string {
  const { 'content-type': _, ...sent } = Object.fromEntries(headers);
  const [scheme, credentials = ''] = (sent.authorization ?? '').split(' ');
  const decoded = scheme === 'Basic' ? decodeBase64(credentials) : '';
  const password = decoded.slice(decoded.indexOf(':') + 1);
  const own = [...Object.values(sent), credentials, password];
  return [...own, url.search, ...url.searchParams.values()]
    .filter(({ length }) => length >= SHORTEST_SECRET)
    .reduce((rest, secret) => rest.replaceAll(secret, '…'), text);
}

function decodeBase64(text: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0)));
}
