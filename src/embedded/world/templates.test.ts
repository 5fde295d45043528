import { expect, test } from 'vitest';
import { fillTemplate } from './templates.ts';

test('fillTemplate() fills slots and capitalises sentences', () => {
  const slots = { when: 'last week', she: 'she', event: 'broke my phone' };
  expect(fillTemplate('{when} {she} {event}.', slots)).toBe('Last week she broke my phone.');
});

test('fillTemplate() leaves no space for an empty slot', () => {
  const slots = { who: 'my sister', when: '', clause: '' };
  expect(fillTemplate('{when} there is {who} {clause}.', slots)).toBe('There is my sister.');
});

test('fillTemplate() keeps amounts unchanged', () => {
  expect(fillTemplate('I lost {measure}. too bad', { measure: '$56' })).toBe('I lost $56. Too bad');
});

test('fillTemplate() names a missing slot', () => {
  expect(() => fillTemplate('I may {decision}.', {})).toThrow(
    'Internal: no "decision" for template "I may {decision}."',
  );
});
