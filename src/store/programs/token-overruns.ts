import { LIMITS } from '../../limits.ts';
import type { AuditRow } from '../people.ts';
import type { TokenOverrun } from '../token-overruns.ts';
import { writeAudit } from './audit.ts';
import { type Program, query, rowOf, rowsOf } from './program.ts';

const THOUSANDTHS = 1_000;

interface OverrunColumns {
  readonly model: string;
  readonly account_id: bigint;
  readonly factor: bigint;
  readonly noted_ms: bigint;
}

/** Keeps the highest factor of each account. Not a change that anybody makes, so it has no row in the audit. */
export function* noteTokenOverrun({ model, accountId, factor, notedMs }: TokenOverrun): Program<void> {
  const others = yield* rowOf<{ readonly accounts: bigint }>(
    'SELECT count(*) AS accounts FROM token_overrun WHERE model = ? AND account_id <> ?',
    model,
    accountId,
  );
  if (others !== null && others.accounts >= LIMITS.tokenOverrunAccountsMax) return;
  yield query(
    `INSERT INTO token_overrun (model, account_id, factor, noted_ms) VALUES (?, ?, ?, ?)
     ON CONFLICT (model, account_id) DO UPDATE SET factor = excluded.factor, noted_ms = excluded.noted_ms
     WHERE excluded.factor > token_overrun.factor`,
    model,
    accountId,
    Math.ceil(factor * THOUSANDTHS),
    notedMs,
  );
}

export function* listTokenOverruns(): Program<TokenOverrun[]> {
  const rows = yield* rowsOf<OverrunColumns>('SELECT * FROM token_overrun ORDER BY model, factor DESC, account_id');
  return rows.map((row) => ({
    model: row.model,
    accountId: row.account_id,
    factor: Number(row.factor) / THOUSANDTHS,
    notedMs: Number(row.noted_ms),
  }));
}

export function* forgetTokenOverruns(model: string, audit: AuditRow): Program<number> {
  const forgotten = yield* rowsOf('DELETE FROM token_overrun WHERE model = ? RETURNING account_id', model);
  if (forgotten.length > 0) yield* writeAudit(audit);
  return forgotten.length;
}
