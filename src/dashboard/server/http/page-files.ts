import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import type { MiddlewareHandler } from 'hono';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

interface PageFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

/** Reads the files of the built page once, by their addresses: no address is ever made into a path. */
export async function readPage(folder: string): Promise<ReadonlyMap<string, PageFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const pairs = files.map(async (entry): Promise<[string, PageFile]> => {
    const path = join(entry.parentPath, entry.name);
    const address = `/${relative(folder, path).split(sep).join('/')}`;
    const type = types[extname(path)] ?? 'application/octet-stream';
    return [address, { bytes: new Uint8Array(await readFile(path)), type }];
  });
  const page = new Map(await Promise.all(pairs));
  if (page.has('/index.html')) return page.set('/', page.get('/index.html')!);
  throw new Error(
    `Cannot serve the dashboard's page from ${folder}: it must hold index.html, got none; build it with "npm run build"`,
  );
}

/** Serves the page. */
export function servePage(page: ReadonlyMap<string, PageFile>): MiddlewareHandler {
  return async (context, next) => {
    const { method, path } = context.req;
    const file = page.get(path);
    if (file === undefined || (method !== 'GET' && method !== 'HEAD')) return next();
    return context.body(file.bytes, 200, { 'Content-Type': file.type });
  };
}
