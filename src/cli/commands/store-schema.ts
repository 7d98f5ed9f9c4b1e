import type { Config } from '../../config/config.ts';
import { EXIT } from '../exit-codes.ts';
import { usageFailure } from '../failure.ts';
import { FINDING_COLUMNS } from '../findings.ts';
import type { Leaf } from '../leaf.ts';
import type { Session } from '../session.ts';
import { formatTable } from '../table.ts';

export const migrateLeaf: Leaf = {
  name: 'migrate',
  summary: 'make the tables of the books in PostgreSQL, or bring them up to date; every start does it too',
  examples: ['tollgate store migrate --store postgres://owner@db.lan/tollgate'],
  async run(session) {
    const steps = await session.composition.migrateDatabase(placeOf(session));
    session.show({ text: JSON.stringify({ object: 'migration', steps }), result: steps }, (taken) => taken.join('\n'));
    session.advise(steps.length === 0 ? 'The tables were up to date.' : 'The tables are up to date.');
    return EXIT.ok;
  },
};

export const checkLeaf: Leaf = {
  name: 'check',
  summary:
    'look for what would keep replicas from working on that PostgreSQL; the exit code is 1 if something would, nothing is changed',
  examples: ['tollgate store check --store postgres://tollgate@db.lan/tollgate'],
  async run(session) {
    const findings = await session.composition.examineDatabase(placeOf(session));
    const ok = findings.every(({ status }) => status !== 'failure');
    session.show({ text: JSON.stringify({ object: 'store_check', ok, checks: findings }), result: findings }, (rows) =>
      formatTable(FINDING_COLUMNS, rows),
    );
    for (const { check, remedy } of findings) if (remedy !== null) session.advise(`${check}: ${remedy}`);
    return ok ? EXIT.ok : EXIT.no;
  },
};

function placeOf(session: Session): NonNullable<Config['store']> {
  const { store } = session.config('leave');
  if (store !== null) return store;
  throw usageFailure(
    'These books are in a folder, whose tables every start brings up to date by itself.',
    'name a PostgreSQL with --store or TOLLGATE_STORE, or ask "tollgate doctor"',
  );
}
