import { signal } from '@preact/signals';
import { expect, test } from 'vitest';
import { keepEntries, keptList } from './kept-list.ts';

test('keepEntries() keeps what says the same', () => {
  const [a, b] = [{ id: 1 }, { id: 2 }];
  const [first, second, third] = keepEntries([a, b], [{ id: 2 }, { id: 3 }, { id: 1 }]);
  expect([first, third]).toEqual([b, a]);
  expect(first).toBe(b);
  expect(third).toBe(a);
  expect(second).toEqual({ id: 3 });
});

test('a kept list is another one only where an entry is', () => {
  const runs = signal([{ name: 'a', step: 1 }]);
  const names = keptList(() => runs.value.map(({ name }) => ({ name })));
  const first = names.value;
  runs.value = [{ name: 'a', step: 2 }];
  expect(names.value).toBe(first);
  runs.value = [
    { name: 'a', step: 2 },
    { name: 'b', step: 0 },
  ];
  expect(names.value).toEqual([{ name: 'a' }, { name: 'b' }]);
  runs.value = [];
  expect(names.value).toEqual([]);
});
