import { extname } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** Starts a program of this package in a thread: built JavaScript, or TypeScript through tsx, since
 *  threads do not inherit the loader of a process that runs from sources.
 *  @param program its URL without extension */
export function startThread(program: URL, options: WorkerOptions): Worker {
  const extension = extname(import.meta.url);
  const file = `${program.href}${extension}`;
  const own = { ...options, execArgv: [] };
  if (extension === '.js') return new Worker(new URL(file), own);
  const [tsx, url] = [import.meta.resolve('tsx/esm/api'), file].map((text) => JSON.stringify(text));
  const bootstrap = `import(${tsx}).then(({ register }) => { register(); return import(${url}); })`;
  return new Worker(bootstrap, { ...own, eval: true });
}
