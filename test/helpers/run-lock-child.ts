import { RunLock } from '../../src/run/run-lock.ts';

/** Locks a folder, prints that, and holds the lock until it is killed: `run-lock-child.ts <folder>`. */
RunLock.acquire(process.argv[2]!);
process.stdout.write('locked');
setInterval(() => {}, 1000);
