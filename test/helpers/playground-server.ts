import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { afterAll, beforeAll, onTestFinished } from 'vitest';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

/** A page with these headers is cross-origin isolated. */
export const isolation = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

/** The built playground, shared by the tests of a file. */
export interface BuiltPlayground {
  /** Serves its files until the test ends. Returns the address. */
  serve(headers?: Readonly<Record<string, string>>): Promise<string>;
  /** Bytes of its files by their names. */
  sizes(): Promise<Map<string, number>>;
}

/** Builds the playground before the tests of a file. */
export function buildPlayground(): BuiltPlayground {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'proximal-playground-'));
    const configFile = fileURLToPath(
      new URL('../../src/playground/vite.config.ts', import.meta.url),
    );
    await build({ configFile, logLevel: 'error', build: { outDir: folder, emptyOutDir: true } });
  });
  afterAll(async () => {
    if (existsSync(folder)) await rm(folder, { recursive: true });
  });
  return {
    serve: (headers = {}) => serveFolder(folder, headers),
    sizes: async () => {
      const names = await readdir(folder, { recursive: true });
      const sizes = await Promise.all(names.map((name) => stat(join(folder, name))));
      return new Map(
        names.flatMap((name, i) => (sizes[i]!.isFile() ? [[name, sizes[i]!.size] as const] : [])),
      );
    },
  };
}

/** Serves a folder until the test ends. Returns the address. */
export async function serveFolder(
  folder: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const server = createServer(async ({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const file = join(folder, pathname.endsWith('/') ? `${pathname}index.html` : pathname);
    const content = await readFile(file).catch(() => undefined);
    const type = types[extname(file)] ?? 'application/octet-stream';
    response.writeHead(content === undefined ? 404 : 200, { 'content-type': type, ...headers });
    response.end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
