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

/** Counts characters, not code units, so that names in other scripts stay aligned. */
function width(text: string): number {
  return [...text].length;
}
