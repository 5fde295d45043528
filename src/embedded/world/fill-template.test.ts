import { expect, test } from 'vitest';
import { fillTemplate } from './fill-template.ts';

test('fillTemplate() fills slots and begins sentences with a capital', () => {
  const slots = { when: 'last week', she: 'she', event: 'broke my phone' };
  expect(fillTemplate('{when} {she} {event}.', slots)).toBe('Last week she broke my phone.');
});

test('fillTemplate() leaves no space where a slot is empty', () => {
  const slots = { who: 'my sister', when: '', clause: '' };
  expect(fillTemplate('{when} there is {who} {clause}.', slots)).toBe('There is my sister.');
});

test('fillTemplate() takes amounts as they are', () => {
  expect(fillTemplate('I lost {measure}. too bad', { measure: '$56' })).toBe('I lost $56. Too bad');
});

test('fillTemplate() names a slot that is not there', () => {
  expect(() => fillTemplate('I may {decision}.', {})).toThrow(
    'Internal: no "decision" for template "I may {decision}."',
  );
});
