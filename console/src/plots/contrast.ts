/** As the Web Content Accessibility Guidelines define it, of colours like `rgb(1, 2, 3)` or `#010203`. */
export function contrast(...colours: readonly [string, string]): number {
  const [dark, light] = colours
    .map((colour) => {
      const [red, green, blue] = linearOf(colour);
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    })
    .toSorted((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}

/** Red, green and blue as amounts of light, from 0 to 1. */
export function linearOf(colour: string): [red: number, green: number, blue: number] {
  const parts = colour.startsWith('#')
    ? (colour.slice(1).match(/../g) ?? []).map((part) => Number.parseInt(part, 16))
    : (colour.match(/\d+/g) ?? []).map(Number);
  const [red = 0, green = 0, blue = 0] = parts.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return [red, green, blue];
}
