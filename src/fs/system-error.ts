/** What a failed write means and how to fix it. */
const meanings: Readonly<Record<string, readonly [problem: string, remedy: string]>> = {
  ENOSPC: ['the disk is full', 'free space'],
  EDQUOT: ['the disk quota is used up', 'free space'],
  EFBIG: ['the file exceeds the size limit of this system', 'raise the limit (ulimit -f)'],
  EROFS: ['the file system is read-only', 'make it writable'],
  EACCES: ['permission to write is missing', 'grant it'],
  EPERM: ['permission to write is missing', 'grant it'],
  EIO: ['the disk reports an error', 'check it'],
};

export interface FailedWrite {
  /** Such as `save checkpoint 20 to runs/a`. */
  readonly action: string;
  /** What to do once the problem is fixed. */
  readonly next: string;
}

/** Explains a failed write in one sentence. Errors that do not come from the system are returned as they are.
 *  @example ENOSPC, { action: 'save checkpoint 20 to a', next: 'resume from step 10' }  →
 *  `Cannot save checkpoint 20 to a: the disk is full (ENOSPC…); free space and resume from step 10` */
export function explainSystemError(error: unknown, { action, next }: FailedWrite): unknown {
  const cause = findSystemError(error);
  if (cause === undefined) return error;
  const { code, message } = cause;
  const [problem, remedy] = meanings[code] ?? ['the system refused', 'fix the cause'];
  return new Error(`Cannot ${action}: ${problem} (${message}); ${remedy} and ${next}`, {
    cause: error,
  });
}

interface SystemError extends Error {
  readonly code: string;
}

/** The error itself if it comes from the system, or the first such error among its causes. */
function findSystemError(error: unknown): SystemError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall } = error as NodeJS.ErrnoException;
  const isSystemError = code !== undefined && (syscall !== undefined || code in meanings);
  return isSystemError ? (error as SystemError) : findSystemError(error.cause);
}
