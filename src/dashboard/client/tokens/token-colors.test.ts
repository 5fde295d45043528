import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { colorScale, tintPercent } from './token-colors.tsx';

describe('colorScale()', () => {
  test('a diverging scale extends equally to both sides of its centre', () => {
    const scale = colorScale([-1, 0.5, null], { kind: 'diverging', center: 0 });
    expect([scale.min, scale.center, scale.max]).toEqual([-1, 0, 1]);
    expect(scale.tint(-1)).toEqual({ hue: 'low', amount: 1 });
    expect(scale.tint(0.5)).toEqual({ hue: 'high', amount: 0.5 });
    expect(scale.tint(0)).toEqual({ hue: 'high', amount: 0 });
  });

  test('a diverging scale can be centred on 1', () => {
    const scale = colorScale([1.5, 1], { kind: 'diverging', center: 1 });
    expect([scale.min, scale.max]).toEqual([0.5, 1.5]);
    expect(scale.tint(0.75)).toEqual({ hue: 'low', amount: 0.5 });
  });

  test('a sequential scale is strongest at the given end', () => {
    const low = colorScale([-4, 0], { kind: 'sequential', strong: 'low' });
    expect(low.tint(-4)).toEqual({ hue: 'high', amount: 1 });
    expect(low.tint(-1)).toEqual({ hue: 'high', amount: 0.25 });
    const high = colorScale([2, 4], { kind: 'sequential', strong: 'high' });
    expect(high.tint(3)).toEqual({ hue: 'high', amount: 0.5 });
  });

  test('equal numbers have tint 0, and missing numbers have none', () => {
    const flat = colorScale([2, 2], { kind: 'sequential', strong: 'low' });
    expect(flat.tint(2)?.amount).toBe(0);
    expect(colorScale([1, 1], { kind: 'diverging', center: 1 }).tint(1)?.amount).toBe(0);
    expect(flat.tint(null)).toBeUndefined();
    expect(flat.tint(Number.NaN)).toBeUndefined();
  });
});

test('tintPercent() is the share of the strongest colour', () => {
  expect(tintPercent({ hue: 'low', amount: 1 })).toBe('100.0%');
  expect(tintPercent({ hue: 'high', amount: 0.5 })).toBe('50.0%');
});

/** Colours of the theme: [light, dark] as [r, g, b] from 0 to 255. */
function readTheme(): (name: string) => [number[], number[]] {
  const css = readFileSync(new URL('../theme.css', import.meta.url), 'utf8');
  return (name) => {
    const [, light, dark] = css.match(
      new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`),
    )!;
    const bytes = (hex: string) => [1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16));
    return [bytes(light!), bytes(dark!)];
  };
}

/** Contrast ratio of WCAG 2: (L + 0.05)/(L′ + 0.05), L the luminance of the lighter colour. */
function contrast(a: readonly number[], b: readonly number[]): number {
  const luminance = (color: readonly number[]) =>
    color
      .map((byte) => byte / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
      .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i]!, 0);
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light! + 0.05) / (dark! + 0.05);
}

test.each(['token-high', 'token-low'])(
  'text on any tint of --%s is readable in both themes',
  (name) => {
    const theme = readTheme();
    for (const mode of [0, 1] as const) {
      const [surface, text, color] = [theme('surface'), theme('text'), theme(name)].map(
        (pair) => pair[mode],
      );
      for (let amount = 0; amount <= 1; amount += 0.05) {
        const mixed = surface!.map((s, i) => s * (1 - amount) + color![i]! * amount);
        expect(contrast(mixed, text!)).toBeGreaterThanOrEqual(4.5);
      }
    }
  },
);

test.each(['token-high', 'token-low'])(
  '--%s stands out from the surface in both themes',
  (name) => {
    const theme = readTheme();
    for (const mode of [0, 1] as const) {
      expect(contrast(theme(name)[mode], theme('surface')[mode])).toBeGreaterThanOrEqual(1.9);
    }
  },
);
