import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { CaseRequest } from './cases.ts';

export interface CaseResult {
  readonly seconds: number;
  readonly phases: Readonly<Record<string, number>>;
  readonly peak_rss_mb: number;
  readonly estimated_rss_mb: number;
  readonly responses: readonly number[];
}

/** Measures a case in a separate process, so that peak memory is that of this case only. */
export function runChild(request: CaseRequest): CaseResult {
  const script = fileURLToPath(new URL('./run-case.ts', import.meta.url));
  const node = [process.execPath, '--import', 'tsx', script, JSON.stringify(request)];
  const cores = Array.from({ length: request.threads }, (_, core) => core).join();
  const [command, ...args] =
    request.threads < availableParallelism() ? ['taskset', '-c', cores, ...node] : node;
  const output = execFileSync(command!, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(output.trim().split('\n').at(-1)!) as CaseResult;
}
