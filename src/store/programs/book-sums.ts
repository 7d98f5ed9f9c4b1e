import { LIMITS } from '../../limits.ts';
import type { BookSums } from '../book-sums.ts';
import { ACCOUNT_KIND, CALL_STATE } from '../codes.ts';
import { countPending } from './deliveries.ts';
import { type Program, rowOf } from './program.ts';

export function* bookSums(): Program<BookSums> {
  const balances = yield* rowOf<{ balance: bigint; reserved: bigint }>(
    `SELECT CAST(coalesce(sum(CASE WHEN kind = ${ACCOUNT_KIND.of.prepaid} THEN balance END), 0) AS bigint) AS balance,
       CAST(coalesce(sum(reserved), 0) AS bigint) AS reserved FROM balance`,
  );
  const holds = yield* rowOf<{ held: bigint }>(
    `SELECT CAST(coalesce(sum(held), 0) AS bigint) AS held FROM call WHERE state = ${CALL_STATE.of.open}`,
  );
  const alerts = yield* rowOf<{ open: bigint }>(
    'SELECT count(*) AS open FROM (SELECT 1 FROM alert WHERE resolved_ms IS NULL LIMIT ?) AS found',
    LIMITS.alertsKept,
  );
  return {
    balanceNanousd: balances!.balance,
    heldNanousd: holds!.held,
    reservedNanousd: balances!.reserved,
    openAlerts: Number(alerts!.open),
    waitingDeliveries: yield* countPending(null),
  };
}
