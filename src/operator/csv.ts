/** One line of a CSV file, as RFC 4180 says. */
export function csvLine(cells: readonly string[]): string {
  const quoted = cells.map((text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text));
  return `${quoted.join(',')}\r\n`;
}

/** A text that a spreadsheet would run as a formula begins with an apostrophe. */
export function csvText(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

/** ISO 8601 in UTC, because spreadsheets cannot read seconds since 1970. Empty after the end of the calendar, where a key may expire. */
export function csvUtc(seconds: number): string {
  const at = new Date(seconds * 1000);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString().replace('.000Z', 'Z');
}

/** Exact dollars with nine decimals. */
export function csvUsd(nanousd: bigint): string {
  const digits = String(nanousd < 0n ? -nanousd : nanousd).padStart(10, '0');
  return `${nanousd < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`;
}
