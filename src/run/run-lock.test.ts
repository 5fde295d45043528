import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { processStart } from './process-start.ts';
import { RunLock } from './run-lock.ts';

const script = fileURLToPath(new URL('../../test/helpers/run-lock-child.ts', import.meta.url));
const lockIn = (folder: string) => join(folder, 'run.lock');

/** A lock as another process would have written it. */
function leaveLock(folder: string, holder: object): void {
  const json = { pid: process.pid, host: hostname(), id: 'x', ...holder };
  writeFileSync(lockIn(folder), JSON.stringify(json));
}

describe('RunLock', () => {
  test('rejects a lock of a live process and takes it over once the process is killed', async () => {
    const folder = makeTempFolder();
    const child = spawn(process.execPath, ['--import', 'tsx', script, folder]);
    await once(child.stdout, 'data');
    expect(() => RunLock.acquire(folder)).toThrow(
      `Cannot use ${folder}: only one process may use it at a time, got process ${child.pid}; ` +
        'wait until it ends, choose another folder, or delete run.lock in it if that process is gone',
    );
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(existsSync(lockIn(folder))).toBe(true);
    const lock = RunLock.acquire(folder);
    expect(JSON.parse(readFileSync(lockIn(folder), 'utf8'))).toMatchObject({ pid: process.pid });
    lock.release();
    expect(readdirSync(folder)).toEqual([]);
  }, 60_000);

  test.skipIf(process.platform === 'win32')('rejects a named pipe and does not wait for it', () => {
    const folder = makeTempFolder();
    spawnSync('mkfifo', [lockIn(folder)]);
    expect(() => RunLock.acquire(folder)).toThrow(
      `Cannot read ${lockIn(folder)}: it must be a regular file, got a named pipe; move it away`,
    );
  });

  test('rejects a second lock in the same process until the first is released', () => {
    const folder = makeTempFolder();
    const lock = RunLock.acquire(folder);
    expect(() => RunLock.acquire(folder)).toThrow(`got process ${process.pid};`);
    lock.release();
    const second = RunLock.acquire(folder);
    lock.release();
    expect(existsSync(lockIn(folder))).toBe(true);
    second.release();
  });

  test.skipIf(process.platform !== 'linux')(
    'takes over a lock whose pid belongs to another process now, as after a power cut',
    () => {
      const folder = makeTempFolder();
      const pid = process.ppid;
      const start = processStart(pid)!;
      leaveLock(folder, { pid, start });
      expect(() => RunLock.acquire(folder)).toThrow(`got process ${pid};`);
      const [boot, ticks] = start.split(':') as [string, string];
      for (const other of [`${boot}:${Number(ticks) - 1}`, `another boot:${ticks}`]) {
        leaveLock(folder, { pid, start: other });
        RunLock.acquire(folder).release();
      }
      expect(processStart(2 ** 30)).toBeUndefined();
    },
  );

  test('takes over a lock with its own pid that an earlier process left', () => {
    const folder = makeTempFolder();
    leaveLock(folder, { id: 'of a container before' });
    RunLock.acquire(folder).release();
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each(['', '{"pid":', '7'])('takes over a half-written lock: %j', (text) => {
    const folder = makeTempFolder();
    writeFileSync(lockIn(folder), text);
    RunLock.acquire(folder).release();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('rejects a lock of another machine, whose processes it cannot see', () => {
    const folder = makeTempFolder();
    leaveLock(folder, { host: 'elsewhere', pid: 7 });
    expect(() => RunLock.acquire(folder)).toThrow('got process 7 on elsewhere; wait until it ends');
  });

  test('release() leaves the lock of another process alone', () => {
    const folder = makeTempFolder();
    const lock = RunLock.acquire(folder);
    leaveLock(folder, { id: 'of another' });
    lock.release();
    expect(existsSync(lockIn(folder))).toBe(true);
  });
});
