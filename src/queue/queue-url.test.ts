import { afterEach, describe, expect, it, vi } from 'vitest';
import { PASSWORD_VARIABLE, withPassword } from './queue-url.ts';

afterEach(() => vi.unstubAllEnvs());

describe('The URL of a queue', () => {
  it('gets the password of the environment unless it has one', () => {
    vi.stubEnv(PASSWORD_VARIABLE, '50%/b@c');
    expect(withPassword('redis://host:6379/0')).toBe('redis://:50%25%2Fb%40c@host:6379/0');
    expect(withPassword('redis://:own@host:6379/0')).toBe('redis://:own@host:6379/0');
  });
});
