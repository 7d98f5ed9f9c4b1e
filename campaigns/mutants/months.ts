import type { Mutant } from './seeds.ts';

function mutant(name: string, file: string, find: string, replace: string, ...tests: string[]): Mutant {
  return { name: `months: ${name}`, changes: [{ file, find, replace }], tests };
}

const CLOSED = 'test/month-trees.test.ts';
const KEPT = 'test/month-trees-kept.test.ts';
const ARCHIVE = 'test/archive.test.ts';
const FORM = 'src/store/receipt-form.ts';
const TREE = 'src/store/month-tree.ts';
const CHECK = 'src/store/month-check.ts';

/** Faults by which a changed, missing or added receipt of a closed month would go unnoticed, or a right one be reported. */
export const MONTH_MUTANTS: readonly Mutant[] = [
  mutant('a column that is not hashed', FORM, "  epoch: required('int64'),\n", '', CLOSED, 'test/receipt-form.test.ts'),
  mutant(
    'line feeds that are not escaped',
    FORM,
    "return value.replaceAll('\\\\', '\\\\\\\\').replaceAll('\\n', '\\\\n')",
    'return value',
    'test/receipt-form.test.ts',
  ),
  mutant('names as only SQLite stores them', FORM, "table === 'name' ? storableName(found, id) : found", 'found', KEPT),
  mutant(
    'roots that are not compared',
    CHECK,
    'if (Buffer.compare(stored.root, now.root) !== 0) {',
    'if (stored.root.length !== now.root.length) {',
    CLOSED,
  ),
  mutant(
    'accounts without a closed month that are not reported',
    CHECK,
    "for (const accountId of this.#trees.keys()) this.#say(accountId, 'it has receipts, but was closed with none');",
    '',
    CLOSED,
  ),
  mutant('months by the time of each call alone', TREE, 'latestMs === null || createdMs > latestMs', 'true', CLOSED),
  mutant('deletions from the middle of a tree', TREE, 'ms >= beforeMs && ms <= nowMs', 'false', 'test/store.test.ts'),
  mutant(
    'deleted receipts that no tree begins with',
    CHECK,
    'this.#trees.set(row.account_id, new MonthTree(row));',
    '',
    CLOSED,
  ),
  mutant(
    'sums that are counted twice when receipts get their trees',
    'src/store/sqlite/closing.ts',
    'calls = calls - part.added, spent = spent - part.cost',
    'calls = calls - part.added',
    CLOSED,
  ),
  mutant(
    'calls that are added to a slice unseen',
    'src/store/sqlite/closing.ts',
    'return Number(found?.rows) === rows;',
    'return Number(found?.rows) >= rows;',
    KEPT,
  ),
  mutant(
    'receipts deleted before their file is noted',
    'src/store/archive/archive-receipts.ts',
    '      await this.#engine.directory.noteArchiveFile(draft.file, this.#terms.audit(draft.file));\n',
    '',
    ARCHIVE,
  ),
  mutant(
    'an archived month that is not compared with its root',
    'src/store/archive/archive-receipts.ts',
    'file.upTo !== upTo || digest',
    'file.upTo === upTo || digest',
    ARCHIVE,
  ),
  mutant(
    'an archived receipt that is shown although it was changed',
    'src/store/archive/find-archived.ts',
    'if (sha256(zipped) !== hash) throw changed(folder, name + DATA_SUFFIX);',
    '',
    ARCHIVE,
  ),
  mutant(
    'archived receipts shown to other accounts',
    'src/store/archive/find-archived.ts',
    ' || (accountId !== null && receipt.accountId !== accountId)',
    '',
    ARCHIVE,
  ),
];
