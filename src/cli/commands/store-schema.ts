import type { Config } from '../../config/config.ts';
import type { CommandSpec } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { usageFailure } from '../failure.ts';
import { FINDING_COLUMNS } from '../finding-columns.ts';
import type { Session } from '../session.ts';
import { formatTable } from '../table.ts';

export const migrateCommand: CommandSpec = {
  name: 'migrate',
  summary: 'create or upgrade the tables in PostgreSQL; every start does this too',
  examples: ['tollgate store migrate --store postgres://owner@db.lan/tollgate'],
  async run(session) {
    const steps = await session.composition.migrateDatabase(placeOf(session));
    session.show({ text: JSON.stringify({ object: 'migration', steps }), result: steps }, (taken) => taken.join('\n'));
    session.advise(steps.length === 0 ? 'The tables were up to date already.' : 'The tables are up to date.');
    return EXIT.ok;
  },
};

export const checkCommand: CommandSpec = {
  name: 'check',
  summary: 'check whether replicas can share the PostgreSQL database; exits with 1 if they cannot; changes nothing',
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
    'This ledger is in a data folder, whose tables every start upgrades by itself.',
    'name a PostgreSQL database with --store or TOLLGATE_STORE, or run "tollgate doctor"',
  );
}
