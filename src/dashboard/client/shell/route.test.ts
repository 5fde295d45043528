import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatRoute, parseRoute } from './route.ts';

describe('parseRoute()', () => {
  test('reads each place', () => {
    expect(parseRoute('')).toEqual({ page: 'overview', run: undefined });
    expect(parseRoute('#/')).toEqual({ page: 'overview', run: undefined });
    expect(parseRoute('#/label')).toEqual({ page: 'label' });
    expect(parseRoute('#/runs/a%20b')).toEqual({ page: 'overview', run: 'a b' });
    expect(parseRoute('#/runs/a/samples')).toEqual({ page: 'samples', run: 'a' });
    expect(parseRoute('#/runs/a/samples/7')).toEqual({ page: 'tokens', run: 'a', index: 7 });
  });

  test('says unknown of all else', () => {
    const hashes = ['#/x', '#/runs/', '#/runs/%', '#/runs/a/b', '#/runs/a/samples/-1', '#/label/x'];
    expect(hashes.map((hash) => parseRoute(hash).page)).toEqual(hashes.map(() => 'unknown'));
  });

  test('reads back what formatRoute() writes, whatever the name of the run', () => {
    const run = fc.string({ minLength: 1, unit: 'grapheme' });
    fc.assert(
      fc.property(run, fc.nat(), (id, index) => {
        for (const route of [
          { page: 'overview', run: id },
          { page: 'samples', run: id },
          { page: 'tokens', run: id, index },
        ] as const) {
          expect(parseRoute(formatRoute(route))).toEqual(route);
        }
      }),
    );
  });
});
