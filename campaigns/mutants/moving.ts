import type { Mutant } from './seeds.ts';

function mutant(name: string, file: string, find: string, replace: string, ...tests: string[]): Mutant {
  return { name: `moving: ${name}`, changes: [{ file, find, replace }], tests };
}

const COPIED = 'test/store-copy.test.ts';
const KEPT = 'test/store-backup.test.ts';
const COPY = 'src/store/copy.ts';
const SOURCE = 'src/store/sqlite/copy-source.ts';
const TARGET = 'src/store/postgres/copy-target.ts';
const RESTORE = 'src/store/sqlite/restore.ts';
const PROOF = 'src/store/sqlite/prove-database.ts';
const REPLACE = 'src/store/sqlite/replace-ledger.ts';
const LOST = 'test/store-loss.test.ts';

/** Faults by which a ledger would be lost, duplicated or mixed up when it is moved. */
export const MOVING_MUTANTS: readonly Mutant[] = [
  mutant(
    'a copy that begins at the beginning again',
    COPY,
    'let after = await target.lastKey(table);',
    'let after: Row | null = null;',
    COPIED,
  ),
  mutant(
    'a copy that is used though it differs',
    COPY,
    '  if (faults.list.length === 0) {\n    leave();',
    '  {\n    leave();',
    COPIED,
  ),
  mutant(
    'rows that are not compared',
    COPY,
    'if (!row.every((cell, column) => isSame(cell, copy[column]!))) return row;',
    '',
    COPIED,
  ),
  mutant('rows too many that nobody sees', TARGET, 'upTo === null ? 1 :', 'upTo === null ? 0 :', COPIED),
  mutant('pages of any size', SOURCE, 'if (rows.length > 0 && bytes > LIMITS.copyPageBytes) break;', '', COPIED),
  mutant(
    'holds of a dead server, copied open',
    SOURCE,
    'if (hasOpenHolds(database)) await store.beginInstance();',
    '',
    COPIED,
  ),
  mutant(
    'a server on half a copy',
    'src/store/postgres/instances.ts',
    '      await refuseUnfinished(sql);\n',
    '',
    COPIED,
  ),
  mutant('other books under a copy', TARGET, '        await refuseLedger(sql);\n', '', COPIED),
  mutant(
    "a copy of one's books upon a copy of others",
    TARGET,
    'if (copy.ledgerId !== mark.ledgerId) throw new CopyRefused(OTHER_COPY);',
    '',
    COPIED,
  ),
  mutant(
    'books that were used since, gone on with',
    TARGET,
    "if (copy.epoch === mark.epoch) return 'resumed';",
    "return 'resumed';",
    COPIED,
  ),
  mutant('two processes that copy the same page', TARGET, 'if (!isSameKey(last, after))', 'if (false)', COPIED),
  mutant('names whose numbers are given twice', TARGET, 'coalesce(max(id), 0) + 1, false)', '1, false)', COPIED),
  mutant('closed books that are open again', TARGET, 'closed_up_to: state.closedUpTo', 'closed_up_to: 0n', COPIED),
  mutant(
    'a lock that is not asked for',
    'src/main/closed-folder.ts',
    "'heldBy' in lock ?",
    "'heldBy' in lock && lock.heldBy === null ?",
    COPIED,
  ),
  mutant('a damaged backup, restored', PROOF, 'damage = whyDamaged(database);', 'damage = null;', KEPT),
  mutant('books that do not balance, restored', PROOF, 'if (violation !== undefined)', 'if (false)', KEPT),
  mutant('wrong usage sums, restored', PROOF, 'return violations;', 'return [];', KEPT),
  mutant('books replaced without being asked', RESTORE, 'if (others.length > 0 && !force)', 'if (false)', KEPT),
  mutant('a log that stays behind', REPLACE, "['-wal', '-shm']", '[]', KEPT),
  mutant(
    'a start that does not look at the mark',
    'src/store/sqlite/lost-commits.ts',
    'if (lossBetween(mark, found) === null) return null;',
    'return null;',
    LOST,
  ),
  mutant(
    'a restore that is announced and not finished',
    REPLACE,
    'if (!existsSync(intentPath(folder))) return;',
    'return;',
    'test/store-replace.test.ts',
  ),
  mutant(
    'commits into a database that was deleted',
    'src/store/sqlite/file-watch.ts',
    'if (why !== null)',
    'if (false)',
    'test/store-vanished.test.ts',
  ),
  mutant(
    'a backup for all to read',
    'src/store/sqlite/backup.ts',
    "openSync(draft, 'wx', 0o600)",
    "openSync(draft, 'wx', 0o644)",
    KEPT,
  ),
  mutant(
    'a backup over another file',
    'src/store/sqlite/backup.ts',
    'if (existsSync(file)) throw',
    'if (false) throw',
    KEPT,
  ),
];
