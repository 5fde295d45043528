import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { besideBusyProcess } from './busy-process.ts';
import { processSeconds } from './other-load.ts';

const isAlive = (id: number) => {
  try {
    return process.kill(id, 0);
  } catch {
    return false;
  }
};

it.runIf(process.platform === 'linux')('keeps a core busy while the work runs', async () => {
  await besideBusyProcess(async (id) => {
    const used = () => processSeconds(readFileSync(`/proc/${id}/stat`, 'utf8'));
    while (used() < 0.3) await wait(20);
    expect(isAlive(id)).toBe(true);
  });
});

it('ends the busy process if the work fails', async () => {
  let busy = 0;
  const failing = besideBusyProcess(async (id) => {
    busy = id;
    expect(isAlive(id)).toBe(true);
    throw new Error('the peer ended');
  });
  await expect(failing).rejects.toThrow('the peer ended');
  expect(isAlive(busy)).toBe(false);
});
