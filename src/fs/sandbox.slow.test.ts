import { expect, test } from 'vitest';
import { fillHeap } from '../../test/helpers/sandbox-tasks.ts';
import { runInSandbox } from './sandbox.ts';

test('runInSandbox() ends a task that fills its heap', async () => {
  const module = new URL('../../test/helpers/sandbox-tasks.ts', import.meta.url).href;
  const task = { module, run: fillHeap, input: undefined, action: 'Cannot count' };
  await expect(runInSandbox(task).next()).rejects.toThrow(
    /^Cannot count: it must be parsed with at most \d+ MiB of memory, needs more; the file is damaged or its parts are too large, split it$/,
  );
});
