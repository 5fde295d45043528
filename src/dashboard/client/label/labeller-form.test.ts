import { describe, expect, test } from 'vitest';
import { cleanName, pageMemory, readName, saveName } from './labeller-form.tsx';

describe('labeller’s name', () => {
  test('cleanName() removes extra spaces and returns undefined for an empty name', () => {
    expect(cleanName('  Ada   Lovelace ')).toBe('Ada Lovelace');
    expect(cleanName(' \t ')).toBeUndefined();
  });

  test('cleanName() truncates to 40 characters', () => {
    expect(cleanName('a'.repeat(41))).toBe('a'.repeat(40));
    expect(cleanName(`${'a'.repeat(39)} b`)).toBe('a'.repeat(39));
  });

  test('cleanName() normalises like the server: composed, no control characters, no split characters', () => {
    expect(cleanName('Zoe\u0308')).toBe('Zo\u00eb');
    expect(cleanName('a\u202eb\u0007')).toBe('ab');
    expect(cleanName('👩'.repeat(41))).toBe('👩'.repeat(40));
  });

  test('a saved name is read again, and empty storage has none', () => {
    const memory = pageMemory();
    expect(readName(memory)).toBeUndefined();
    saveName(memory, 'Ada');
    expect(readName(memory)).toBe('Ada');
  });
});
