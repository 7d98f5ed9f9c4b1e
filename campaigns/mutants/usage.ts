import type { Mutant } from './seeds.ts';

function mutant(name: string, file: string, find: string, replace: string, ...tests: string[]): Mutant {
  return { name: `usage: ${name}`, changes: [{ file, find, replace }], tests };
}

const REPORT = 'test/usage-report.test.ts';
const REFUSED = 'test/refusals.test.ts';
const LOG = 'src/gateway/refusal-log.test.ts';

/** Faults by which a report would differ from its receipts, sums would be wrong unnoticed, or refused calls be lost. */
export const USAGE_MUTANTS: readonly Mutant[] = [
  mutant(
    'receipts after the sums that are left out',
    'src/store/programs/usage-report.ts',
    'span)), open, refunds, ...refused]',
    'span)), refunds, ...refused]',
    REPORT,
  ),
  mutant(
    'closed receipts that are counted again',
    'src/store/programs/usage-report.ts',
    "text: 'call.id > ?', values: [closedUpTo]",
    "text: 'call.id > ?', values: [closedUpTo - closedUpTo]",
    REPORT,
  ),
  mutant(
    'hours around the whole days that are left out',
    'src/store/programs/usage-report.ts',
    'return [hours(sinceMs, firstDayMs), days, hours(endOfDaysMs, untilMs)]',
    'return [days]',
    REPORT,
  ),
  mutant(
    'refunds of deleted receipts that are forgotten',
    'src/store/programs/usage-sums.ts',
    "  usage_day: ['deleted_refunded'],",
    '  usage_day: [],',
    REPORT,
  ),
  mutant(
    'sums that are not compared with the receipts',
    'src/store/programs/usage-check.ts',
    'const isWrong = isKnown ? stored[column] !== computed : stored[column]! < computed;',
    'const isWrong = false;',
    REPORT,
  ),
  mutant(
    'hours without sums that are not reported',
    'src/store/programs/usage-check.ts',
    "for (const name of left.keys()) hours.set(Number(name.split('/', 1)[0]), 'receipts are missing in the sums');",
    '',
    REPORT,
  ),
  mutant(
    'an account that has several reports at a time',
    'src/store/report-slots.ts',
    'return this.#running.size < this.#max && !this.#running.has(accountId);',
    'return this.#running.size < this.#max;',
    'src/store/report-slots.test.ts',
  ),
  mutant(
    "callers' own deployments that fill the sums with names",
    'src/store/usage-columns.ts',
    'THEN call.host ELSE call.effective_model END',
    'THEN call.effective_model ELSE call.effective_model END',
    REPORT,
  ),
  mutant(
    'people outside of an account who can be told from unknown ones',
    'src/operator/lookup.ts',
    'person !== null && memberships.some(({ accountId }) => accountId === account.id)',
    'person !== null && memberships.length >= 0',
    'test/usage-access.test.ts',
  ),
  mutant(
    'no quota of an account',
    'src/store/programs/refusals.ts',
    'LIMITS.refusalsPerAccountMax],',
    'LIMITS.refusalsMax],',
    REFUSED,
  ),
  mutant(
    'counts that end with a failed write',
    'src/gateway/refusal-log.ts',
    '      this.#takeBack(counts, rows);\n',
    '',
    LOG,
  ),
  mutant(
    'an account that fills the memory of refused calls',
    'src/gateway/refusal-log.ts',
    'return this.#rows.length >= LIMITS.refusalsWaitingPerAccountMax;',
    'return this.#rows.length >= LIMITS.refusalsWaitingMax;',
    LOG,
  ),
];
