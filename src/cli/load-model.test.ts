import { expect, test, vi } from 'vitest';
import { DownloadProgress } from './load-model.ts';

/** A download on a terminal or a pipe with a manual clock, and its output. */
function setUp(output: { isTTY?: boolean; columns?: number }) {
  const written: string[] = [];
  const clock = { time: 0 };
  const line = new DownloadProgress({
    output: { ...output, write: (text) => written.push(String(text)) > 0 },
    now: () => clock.time,
  });
  const update = (time: number, receivedBytes: number) => {
    clock.time = time;
    line.update({ label: 'model.safetensors', receivedBytes, totalBytes: 1_200_000_000 });
  };
  return { line, update, written, clock };
}

test('DownloadProgress changes one line of a terminal, at most every 100 ms', () => {
  const { update, written } = setUp({ isTTY: true, columns: 90 });
  update(0, 0);
  update(99, 1);
  update(1000, 300_000_000);
  expect(written).toEqual([
    '\r\x1b[Kmodel.safetensors ────────────────────────   0 %  0 B of 1.20 GB',
    '\r\x1b[Kmodel.safetensors ━━━━━━──────────────────  25 %  300 MB of 1.20 GB  300 MB/s  3 s left',
  ]);
});

test('DownloadProgress shortens the bar, then the text, on a narrow terminal', () => {
  const { update, written } = setUp({ isTTY: true, columns: 50 });
  update(0, 600_000_000);
  update(1000, 900_000_000);
  expect(written).toEqual([
    '\r\x1b[Kmodel.safetensors ━━━───  50 %  600 MB of 1.20 GB',
    '\r\x1b[Kmodel.safetensors   75 %  900 MB of 1.20 GB  300 ',
  ]);
});

test('DownloadProgress measures the speed from the first update, since a resumed download starts with bytes', () => {
  const { update, written } = setUp({ isTTY: false });
  update(0, 1_000_000_000);
  update(10_000, 1_100_000_000);
  expect(written[1]).toBe('model.safetensors 91 %  1.10 GB of 1.20 GB  10.0 MB/s  10 s left\n');
});

test('DownloadProgress prints a plain line every 10 s without a terminal', () => {
  const { update, line, written, clock } = setUp({});
  for (let time = 0; time <= 25_000; time += 1000) update(time, time * 40_000);
  clock.time = 30_000;
  line.finish();
  expect(written).toEqual([
    'model.safetensors 0 %  0 B of 1.20 GB\n',
    'model.safetensors 33 %  400 MB of 1.20 GB  40.0 MB/s  20 s left\n',
    'model.safetensors 66 %  800 MB of 1.20 GB  40.0 MB/s  10 s left\n',
    'Downloaded 1.00 GB in 30 s\n',
  ]);
});

test('DownloadProgress removes its line at the end, early or not', () => {
  vi.stubEnv('NO_COLOR', '1');
  const { update, line, written } = setUp({ isTTY: true });
  update(0, 1_200_000_000);
  line.clear();
  line.clear();
  line.finish();
  expect(written.slice(1)).toEqual(['\r\x1b[K', 'Downloaded 1.20 GB in 0 s\n']);
  vi.unstubAllEnvs();
});

test('DownloadProgress writes nothing if nothing was downloaded', () => {
  const { line, written } = setUp({ isTTY: true });
  line.finish();
  expect(written).toEqual([]);
});
