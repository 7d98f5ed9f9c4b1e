import { readFileSync } from 'node:fs';

const PAGE = new URL('../docs/endings.md', import.meta.url);

export interface EndingRow {
  readonly ended: string;
  readonly situation: string;
  readonly charge: string;
  /** `none`, `usage` (by the second table), or `hold`. */
  readonly loss: string;
}

export interface UsageRow {
  readonly counts: string;
  readonly charge: string;
  readonly usageSource: string;
  readonly components: string;
  readonly loss: string;
}

/** One row per ending and situation: what is charged. */
export function readEndings(): EndingRow[] {
  return tableUnder('## Endings').map(([ended = '', situation = '', charge = '', loss = '']) => {
    return { ended, situation, charge, loss };
  });
}

/** One row for each way in which a host can report its counts: what `usage` then means. */
export function readUsageRules(): UsageRow[] {
  return tableUnder('## Usage').map(([counts = '', charge = '', usageSource = '', components = '', loss = '']) => {
    return { counts, charge, usageSource, components, loss };
  });
}

/** The cells of the only table under a heading, without its two head lines. */
function tableUnder(heading: string): string[][] {
  const lines = readFileSync(PAGE, 'utf8').split('\n');
  const start = lines.indexOf(heading);
  if (start === -1) throw new Error(`docs/endings.md has no heading "${heading}".`);
  const end = lines.findIndex((line, at) => at > start && line.startsWith('## '));
  const rows = lines.slice(start, end === -1 ? undefined : end).filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) => row.split('|').slice(1, -1).map(cellText));
}

function cellText(cell: string): string {
  return cell.trim().replace(/^`(.*)`$/, '$1');
}
