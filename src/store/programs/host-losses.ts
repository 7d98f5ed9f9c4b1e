import { idFloorAt } from '../../kit/ids.ts';
import { LIMITS } from '../../limits.ts';
import type { HostLosses, TimeSpan } from '../host-losses.ts';
import { type Program, rowsOf } from './program.ts';

interface LossColumns {
  readonly host: string | null;
  readonly reason: string | null;
  readonly calls: bigint;
  readonly loss: bigint;
}

const LOSS = 'CAST(sum(loss) AS bigint)';

/** There is no index of losses, because few calls have one: the newest receipts of the period are read, up to a limit. */
export function* hostLosses({ sinceMs, untilMs }: TimeSpan): Program<HostLosses> {
  const rows = yield* rowsOf<LossColumns>(
    `SELECT name.text AS host, reason, calls, loss FROM (
       SELECT host, CASE WHEN loss > 0 THEN loss_reason END AS reason, count(*) AS calls, ${LOSS} AS loss FROM (
         SELECT host, loss_reason, loss FROM call WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ?) AS newest
       GROUP BY 1, 2) AS summed
     LEFT JOIN name ON name.id = summed.host`,
    idFloorAt(sinceMs),
    idFloorAt(untilMs),
    LIMITS.usageExaminedMax,
  );
  const read = rows.reduce((sum, { calls }) => sum + Number(calls), 0);
  return {
    isComplete: read < LIMITS.usageExaminedMax,
    losses: rows
      .filter(({ loss }) => loss !== null && loss > 0n)
      .map(({ host, reason, calls, loss }) => ({ host, reason, calls: Number(calls), lossNanousd: loss }))
      .toSorted((a, b) => (a.lossNanousd === b.lossNanousd ? 0 : a.lossNanousd > b.lossNanousd ? -1 : 1)),
  };
}
