import { expect, test } from 'vitest';
import { countLines, findRepeatedLines } from './source-files.ts';

const shared = ['a();', 'b();', 'c();', 'd();', 'e();', 'f();'];
const file = (path: string, ...lines: string[]) => ({ path, text: `${lines.join('\n')}\n` });

test('countLines() does not count the end of the last line', () => {
  expect(countLines(file('a.ts', 'x', 'y'))).toBe(2);
});

test('findRepeatedLines() finds six lines in a row that two files share', () => {
  const files = [file('a.ts', 'x();', ...shared), file('b.ts', ...shared, 'y();')];
  expect(findRepeatedLines(files)).toEqual([['a.ts:2-7', 'b.ts:1-6']]);
});

test('findRepeatedLines() reports a longer run once', () => {
  const files = [file('a.ts', ...shared, 'g();'), file('b.ts', 'x();', ...shared, 'g();')];
  expect(findRepeatedLines(files)).toEqual([['a.ts:1-7', 'b.ts:2-8']]);
});

test('findRepeatedLines() ignores five lines', () => {
  const five = shared.slice(1);
  expect(findRepeatedLines([file('a.ts', ...five), file('b.ts', ...five)])).toEqual([]);
});

test('findRepeatedLines() skips comments, blank lines, imports and indentation', () => {
  const spaced = shared.flatMap((line) => ['', '// why', `    ${line}`]);
  const files = [
    file('a.ts', "import { a } from './a.ts';", ...shared),
    file('b.ts', '/** One\n *  two. */', ...spaced),
  ];
  expect(findRepeatedLines(files)).toEqual([['a.ts:2-7', 'b.ts:5-20']]);
});

test('findRepeatedLines() does not count imports as repeated', () => {
  const imports = shared.map((_, i) => `import { x${i} } from './x${i}.ts';`);
  expect(findRepeatedLines([file('a.ts', ...imports), file('b.ts', ...imports)])).toEqual([]);
});
