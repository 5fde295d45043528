import { describe, expect, test } from 'vitest';
import { cleanName, keepName, pageMemory, readName } from './labeller-form.tsx';

describe('labeller’s name', () => {
  test('cleanName() takes spaces away and leaves nothing of nothing', () => {
    expect(cleanName('  Ada   Lovelace ')).toBe('Ada Lovelace');
    expect(cleanName(' \t ')).toBeUndefined();
  });

  test('cleanName() cuts at 40 characters, also before a space', () => {
    expect(cleanName('a'.repeat(41))).toBe('a'.repeat(40));
    expect(cleanName(`${'a'.repeat(39)} b`)).toBe('a'.repeat(39));
  });

  test('cleanName() gives what the server keeps: composed, no controls, no half characters', () => {
    expect(cleanName('Zoe\u0308')).toBe('Zo\u00eb');
    expect(cleanName('a\u202eb\u0007')).toBe('ab');
    expect(cleanName('👩'.repeat(41))).toBe('👩'.repeat(40));
  });

  test('a kept name is read again, and an empty memory has none', () => {
    const memory = pageMemory();
    expect(readName(memory)).toBeUndefined();
    keepName(memory, 'Ada');
    expect(readName(memory)).toBe('Ada');
  });
});
