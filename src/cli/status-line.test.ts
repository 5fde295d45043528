import { expect, test } from 'vitest';
import { StatusLine } from './status-line.ts';
import type { Output } from './terminal.ts';

/** Two outputs of one terminal, and the lines that it shows. */
function terminal() {
  let written = '';
  const write = (text: string | Uint8Array) => {
    written += String(text);
    return true;
  };
  const output: Output = { isTTY: true, columns: 20, write };
  const other: Output = { isTTY: true, columns: 20, write };
  /** The screen after all writes: an erased line starts again. */
  const screen = () => {
    return written.split('\n').map((line) => line.split('\r\x1b[K').at(-1)!);
  };
  return { output, other, write, screen, line: new StatusLine(output, { shared: [other] }) };
}

test('other output appears above the status line, in order', () => {
  const { output, other, line, screen } = terminal();
  line.show('step 1');
  other.write('first\n');
  output.write('second\nthird\n');
  expect(screen()).toEqual(['first', 'second', 'third', 'step 1']);
  line.show('step 2');
  expect(screen()).toEqual(['first', 'second', 'third', 'step 2']);
});

test('incomplete lines wait for their line feed', () => {
  const { output, other, line, screen } = terminal();
  line.show('step 1');
  other.write('one ');
  expect(screen()).toEqual(['step 1']);
  other.write('line\nand');
  expect(screen()).toEqual(['one line', 'step 1']);
  line.clear();
  expect(screen()).toEqual(['one line', 'and', '']);
  output.write('the end\n');
  expect(screen()).toEqual(['one line', 'and', 'the end', '']);
});

test('callbacks of writes are called, and clear() restores the outputs', async () => {
  const { output, write, line } = terminal();
  line.show('step 1');
  expect(output.write).not.toBe(write);
  await new Promise<void>((resolve) => output.write('text', () => resolve()));
  line.clear();
  expect(output.write).toBe(write);
});

test('does nothing without a terminal', () => {
  const parts: string[] = [];
  const output: Output = { write: (text: string | Uint8Array) => parts.push(String(text)) > 0 };
  const { write } = output;
  const line = new StatusLine(output, { shared: [] });
  line.show('step 1');
  expect(output.write).toBe(write);
  line.clear();
  expect(parts).toEqual([]);
});
