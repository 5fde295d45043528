import { describe, expect, it } from 'vitest';
import { alternate } from './alternate.ts';
import { type Update, UpdateProcess } from './update-process.ts';

/** A process that answers with the number of its update. */
const counter = (code = 'console.log(JSON.stringify({ seconds: ++count }))') =>
  [
    process.execPath,
    '-e',
    `let count = 0;
     console.log('{"warm":true}');
     const lines = require('node:readline').createInterface({ input: process.stdin });
     lines.on('line', () => { ${code} });
     lines.on('close', () => console.log(JSON.stringify({ peak_rss_mb: count, versions: {} })));`,
  ] as const;

const start = (name: string, code?: string) =>
  UpdateProcess.start<object, { peak_rss_mb: number; versions: Record<string, string> }>(
    name,
    counter(code),
  );

describe('alternate()', () => {
  it.each([false, true])(
    'runs our updates between those of each peer, contended %s',
    async (contended) => {
      const own = await start('own');
      const { runs, own: updates } = await alternate(own, {
        ...{ peers: ['a', 'b'] as const, rounds: 2, contended, quiet: false },
        start: (name) => start(name),
      });
      const seconds = (updates?: readonly Update[]) => updates?.map((update) => update.seconds);
      expect(seconds(updates)).toEqual([1, 2, 3, 4]);
      expect(seconds(runs.a?.own)).toEqual([1, 2]);
      expect(seconds(runs.b?.own)).toEqual([3, 4]);
      expect(seconds(runs.b?.peer)).toEqual([1, 2]);
      expect(runs.b?.facts.peak_rss_mb).toBe(2);
      expect((await own.finish()).peak_rss_mb).toBe(4);
    },
  );

  it('runs our process alone without peers', async () => {
    const own = await start('own');
    const options = { peers: [], rounds: 3, contended: false, quiet: false, start };
    const { runs, own: updates } = await alternate(own, options);
    expect(runs).toEqual({});
    expect(updates.map(({ seconds }) => seconds)).toEqual([1, 2, 3]);
    expect((await own.finish()).peak_rss_mb).toBe(3);
  });
});

describe('UpdateProcess', () => {
  it('names the process that ends without an answer', async () => {
    const peer = await start('torch', 'process.exit(3)');
    await expect(peer.update()).rejects.toThrow(
      'Cannot measure torch: its process must answer each request, but it ended',
    );
  });

  it('keeps what the process reported after its warm-up update', async () => {
    const peer = await start('torch');
    expect(peer.ready).toEqual({ warm: true });
    peer.stop();
  });
});
