/** What a failed write means, and what helps. */
const meanings: Readonly<Record<string, readonly [problem: string, remedy: string]>> = {
  ENOSPC: ['the disk is full', 'free space'],
  EDQUOT: ['the disk quota is used up', 'free space'],
  EFBIG: ['a file is longer than this system allows', 'raise the limit (ulimit -f)'],
  EROFS: ['the file system is read-only', 'make it writable'],
  EACCES: ['the permission to write is missing', 'grant it'],
  EPERM: ['the permission to write is missing', 'grant it'],
  EIO: ['the disk reports a fault', 'check it'],
};

export interface FailedWrite {
  /** Such as `save checkpoint 20 to runs/a`. */
  readonly action: string;
  /** What to do once the problem is gone. */
  readonly next: string;
}

/** The error of a failed write in one sentence; errors that are not the system's stay as they are.
 *  @example ENOSPC, { action: 'save checkpoint 20 to a', next: 'resume from step 10' }  →
 *  `Cannot save checkpoint 20 to a: the disk is full (ENOSPC…); free space and resume from step 10` */
export function explainSystemError(error: unknown, { action, next }: FailedWrite): unknown {
  const cause = findSystemError(error);
  if (cause === undefined) return error;
  const { code, message } = cause;
  const [problem, remedy] = meanings[code] ?? ['the system refused', 'mend that'];
  return new Error(`Cannot ${action}: ${problem} (${message}); ${remedy} and ${next}`, {
    cause: error,
  });
}

interface SystemError extends Error {
  readonly code: string;
}

/** The system's error itself, or the one that caused another. */
function findSystemError(error: unknown): SystemError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall } = error as NodeJS.ErrnoException;
  const isSystems = code !== undefined && (syscall !== undefined || code in meanings);
  return isSystems ? (error as SystemError) : findSystemError(error.cause);
}
