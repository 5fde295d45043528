import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface LockedPackage {
  readonly optionalDependencies?: Record<string, string>;
}

// npm writes a lock file without an optional package that the registry lacks; `npm ci` then fails.
test('the lock file has every optional dependency', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const locked = new Set(Object.keys(packages).map((path) => path.split('node_modules/').at(-1)));
  const named = Object.values(packages).flatMap((entry) =>
    Object.keys(entry.optionalDependencies ?? {}),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !locked.has(name))).toEqual([]);
});
