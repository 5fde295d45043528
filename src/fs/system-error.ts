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

const unknownMeaning = ['the system reports an error', 'fix the cause'] as const;

export interface FailedWrite {
  /** Such as `save checkpoint 20 to runs/a`. */
  readonly action: string;
  /** What to do once the problem is fixed. */
  readonly next: string;
}

/** A failed write, explained in one sentence. */
export class WriteError extends Error {
  override readonly name = 'WriteError';
  /** The sentence without the words of the system, which may contain paths. */
  readonly summary: string;
  /** Whether there is no space left. */
  readonly isDiskFull: boolean;

  constructor(cause: SystemError, { action, next }: FailedWrite) {
    const [problem, remedy] = meanings[cause.code] ?? unknownMeaning;
    super(`Cannot ${action}: ${problem} (${cause.message}); ${remedy} and ${next}`, { cause });
    this.summary = `Cannot ${action}: ${problem}; ${remedy} and ${next}`;
    this.isDiskFull = cause.code === 'ENOSPC' || cause.code === 'EDQUOT';
  }
}

/** Explains a failed write in one sentence. Errors that do not come from the system are returned unchanged.
 *  @example ENOSPC, { action: 'save checkpoint 20 to a', next: 'resume from step 10' }  →
 *  `Cannot save checkpoint 20 to a: the disk is full (ENOSPC…); free space and resume from step 10` */
export function explainSystemError(error: unknown, write: FailedWrite): unknown {
  const cause = findSystemError(error);
  return cause === undefined ? error : new WriteError(cause, write);
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

/** What a system error means, by code; the words follow the path. */
const causes: Readonly<Record<string, string>> = {
  ENOENT: 'it must exist, got no such file or folder; check the path',
  EEXIST: 'it must not exist, got a file or folder; choose another path',
  EISDIR: 'it must be a file, got a folder; check the path',
  ENOTDIR: 'every part of the path but the last must be a folder, got a file; check the path',
  ENOTEMPTY: 'it must be empty, got files in it; choose another folder',
  EACCES: 'permission is missing; grant it or choose another path',
  EPERM: 'permission is missing; grant it or choose another path',
  EROFS: 'the file system is read-only; make it writable or choose another path',
  ENOSPC: 'the disk is full; free space',
  EDQUOT: 'the disk quota is used up; free space',
  EMFILE: 'too many files are open; raise the limit (ulimit -n)',
  EIO: 'the disk reports an error; check it',
};

const actions: Readonly<Record<string, string>> = {
  mkdir: 'create',
  mkdtemp: 'create',
  open: 'open',
  read: 'read',
  write: 'write',
  scandir: 'list',
  unlink: 'delete',
  rmdir: 'delete',
};

/** A raw error of the system in one sentence; undefined for other errors.
 *  @example "EACCES: permission denied, open 'a.txt'"
 *    →  'Cannot open a.txt: permission is missing; grant it or choose another path' */
export function describeSystemError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  const isRaw = code !== undefined && syscall !== undefined && error.message.startsWith(code);
  const cause = code === undefined ? undefined : causes[code];
  if (!isRaw || cause === undefined) return undefined;
  return `Cannot ${actions[syscall] ?? 'use'} ${path ?? 'a file'}: ${cause}`;
}
