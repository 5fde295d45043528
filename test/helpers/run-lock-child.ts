import { RunLock } from '../../src/run/run-lock.ts';

/** Takes the lock of a folder, says so and holds it until it is killed: `run-lock-child.ts <folder>`. */
RunLock.acquire(process.argv[2]!);
process.stdout.write('locked');
setInterval(() => {}, 1000);
