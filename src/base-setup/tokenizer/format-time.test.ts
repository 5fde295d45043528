import { expect, test } from 'vitest';
import { formatTime } from './format-time.ts';

const morning = new Date(2024, 6, 4, 9, 5, 7);

test.each([
  ['%d %b %Y', '04 Jul 2024'],
  ['%A, %B %d, %y', 'Thursday, July 04, 24'],
  ['%Y-%m-%dT%H:%M:%S', '2024-07-04T09:05:07'],
  ['%a %I:%M %p', 'Thu 09:05 AM'],
  ['100%% %Q', '100% %Q'],
])('formatTime() writes %s as Python does', (format, expected) => {
  expect(formatTime(morning, format)).toBe(expected);
});

test('formatTime() counts hours to twelve', () => {
  const hours = [0, 11, 12, 23].map((hour) => formatTime(new Date(2024, 0, 1, hour), '%I%p'));
  expect(hours).toEqual(['12AM', '11AM', '12PM', '11PM']);
});
