import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatRoute, parseRoute } from './route.ts';

describe('parseRoute()', () => {
  test('parses every page', () => {
    const first = { page: 'overview', run: undefined, ticked: [] };
    expect(parseRoute('')).toEqual(first);
    expect(parseRoute('#/')).toEqual(first);
    expect(parseRoute('#/label')).toEqual({ page: 'label' });
    expect(parseRoute('#/runs')).toEqual({ page: 'runs' });
    expect(formatRoute({ page: 'runs' })).toBe('#/runs');
    expect(parseRoute('#/runs/a%20b')).toEqual({ page: 'overview', run: 'a b', ticked: [] });
    expect(parseRoute('#/runs/a/samples')).toEqual({ page: 'samples', run: 'a' });
    expect(parseRoute('#/runs/a/samples/7')).toEqual({ page: 'tokens', run: 'a', index: 7 });
  });

  test('parses the drawn runs and the zoom', () => {
    const route = {
      page: 'overview',
      run: 'a',
      ticked: ['b', 'c,d'],
      zoom: { min: -1, max: 20.5 },
    };
    const hash = '#/runs/a?with=b,c%2Cd&zoom=-1,20.5';
    expect(parseRoute(hash)).toEqual(route);
    expect(formatRoute(route as never)).toBe(hash);
    const zoom = { min: 1 / 3, max: 1000.0004 };
    expect(formatRoute({ page: 'overview', run: undefined, ticked: [], zoom })).toBe(
      '#/?zoom=0.333333,1000',
    );
  });

  test('ignores a malformed zoom', () => {
    for (const zoom of ['', '5', '5,5', '9,2', 'a,b', '1,Infinityy', ',']) {
      expect(parseRoute(`#/runs/a?zoom=${zoom}&with=%`)).toEqual(parseRoute('#/runs/a'));
    }
  });

  test('everything else is unknown', () => {
    const hashes = ['#/x', '#/runs/', '#/runs/%', '#/runs/a/b', '#/runs/a/samples/-1', '#/label/x'];
    expect(hashes.map((hash) => parseRoute(hash).page)).toEqual(hashes.map(() => 'unknown'));
  });

  test('inverts formatRoute() for any run names', () => {
    const run = fc.string({ minLength: 1, unit: 'grapheme' });
    fc.assert(
      fc.property(run, fc.array(run), fc.nat(), (id, ticked, index) => {
        for (const route of [
          { page: 'overview', run: id, ticked },
          { page: 'overview', run: id, ticked, zoom: { min: index % 1000, max: 1000 } },
          { page: 'samples', run: id },
          { page: 'tokens', run: id, index },
        ] as const) {
          expect(parseRoute(formatRoute(route))).toEqual(route);
        }
      }),
    );
  });
});
