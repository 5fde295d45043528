import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { UpdateProcess } from '../update-process.ts';
import type { CaseRequest } from './cases.ts';

/** What our process reports after its warm-up update. */
interface CaseReady {
  /** Tokens per response. */
  readonly responses: readonly number[];
  /** Resident memory between updates. */
  readonly rss_mb: number;
  readonly peak_rss_mb: number;
}

/** What our process reports at its end. */
interface CaseFacts {
  readonly peak_rss_mb: number;
  /** Tokens per response. */
  readonly responses: readonly number[];
}

export type CaseProcess = UpdateProcess<CaseReady, CaseFacts>;

/** Starts a separate process for a case, so that peak memory is that of this case only. */
export function startCase(request: CaseRequest): Promise<CaseProcess> {
  const script = fileURLToPath(new URL('./run-case.ts', import.meta.url));
  const node = [process.execPath, '--import', 'tsx', script, JSON.stringify(request)] as const;
  const cores = Array.from({ length: request.threads }, (_, core) => core).join();
  const isLimited = request.threads < availableParallelism();
  return UpdateProcess.start('Proximal', isLimited ? ['taskset', '-c', cores, ...node] : node);
}
