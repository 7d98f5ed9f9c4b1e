export interface Column<Row> {
  readonly title: string;
  /** Amounts and counts are right-aligned, so that their digits line up. */
  readonly align?: 'right';
  text(row: Row): string;
}

const GAP = '  ';

/** Rows in aligned columns under a line of titles. */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ text }) => visible(text(row)))),
  ];
  const widths = columns.map((_, at) => Math.max(...cells.map((line) => width(line[at] ?? ''))));
  const lines = cells.map((line) =>
    line
      .map((cell, at) => pad(cell, widths[at] ?? 0, columns[at]?.align === 'right'))
      .join(GAP)
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

/** One object, with a line for each member. */
export function formatRecord(members: readonly (readonly [name: string, value: string])[]): string {
  const longest = Math.max(...members.map(([name]) => width(name)));
  return members.map(([name, value]) => `${pad(name, longest, false)}${GAP}${visible(value)}\n`).join('');
}

/** Terminal control characters, line breaks, and marks that reverse the direction of text. */
const UNSEEN = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** Callers write labels, names of models and user agents; none of them may control the terminal of whoever lists them. */
function visible(text: string): string {
  return text.replace(UNSEEN, (unseen) => `\\u${unseen.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function pad(cell: string, columns: number, isRight: boolean): string {
  const space = ' '.repeat(columns - width(cell));
  return isRight ? space + cell : cell + space;
}

/** Marks that are drawn over the character before them, and characters that are not drawn. */
const ZERO_COLUMNS = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
/** East Asian scripts, and pictures. */
const TWO_COLUMNS =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]$/u;

/** How many columns of a terminal the text takes, so that names in other scripts stay aligned. */
export function width(text: string): number {
  let columns = 0;
  for (const character of text) columns += ZERO_COLUMNS.test(character) ? 0 : TWO_COLUMNS.test(character) ? 2 : 1;
  return columns;
}

/** The beginning of the text that fits, with an ellipsis where the rest was. */
export function shorten(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let shown = '';
  for (const character of text) {
    if (width(shown + character) >= columns) break;
    shown += character;
  }
  return `${shown}…`;
}
