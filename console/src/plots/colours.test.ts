import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { contrast, linearOf } from './contrast.ts';

const STYLES = readFileSync(new URL('../styles.css', import.meta.url), 'utf8');
const THEMES = ['light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

/** Of the first rule that names it, like `#0b6e5f` for `accent`. */
function colourOf(name: string, theme: Theme): string {
  const value = new RegExp(`--${name}: ([^;]+);`).exec(STYLES)?.[1] ?? '';
  const other = /^var\(--([\w-]+)\)$/.exec(value)?.[1];
  if (other !== undefined) return colourOf(other, theme);
  const pair = /^light-dark\((#[\da-f]{6}), (#[\da-f]{6})\)$/.exec(value);
  if (pair === null) throw new Error(`--${name} has no colour for each theme: "${value}".`);
  return pair[THEMES.indexOf(theme) + 1]!;
}

/** How different two colours look, in the colour space Oklab, where black and white are 1 apart. */
function distance(one: string, other: string): number {
  const [a, b] = [one, other].map((colour) => {
    const [red, green, blue] = linearOf(colour);
    const long = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
    const medium = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
    const short = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
    return [
      0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short,
      1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short,
      0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short,
    ];
  });
  return Math.hypot(...a!.map((part, at) => part - b![at]!));
}

const SERIES = [...STYLES.matchAll(/--(series-\w+):/g)].map(([, name]) => name!);
/** What plots and their legends are drawn on: the page, a panel, and the column below the pointer. */
const BACKGROUNDS = ['bg', 'panel', 'raised'];

describe.each(THEMES)('among the colours of plots, %s,', (theme) => {
  test.each(SERIES.flatMap((series) => BACKGROUNDS.map((background) => [series, background] as const)))(
    '%s can be seen on %s: 3 to 1',
    (series, background) => {
      expect(contrast(colourOf(series, theme), colourOf(background, theme))).toBeGreaterThanOrEqual(3);
    },
  );

  test.each(SERIES.flatMap((one, at) => SERIES.slice(at + 1).map((other) => [one, other] as const)))(
    '%s and %s can be told apart',
    (one, other) => {
      expect(distance(colourOf(one, theme), colourOf(other, theme))).toBeGreaterThan(0.1);
    },
  );
});

test('the style sheet has six colours for plots', () => {
  expect(SERIES).toHaveLength(6);
});
