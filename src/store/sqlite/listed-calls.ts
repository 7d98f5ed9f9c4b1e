import { LIMITS } from '../../limits.ts';
import type { Condition } from '../programs/usage-report.ts';

/** Calls of an account by the list that AccountIndex keeps; the newest calls are not in it yet, or only some of them. */
export function listedCalls(accountId: bigint, fromId: bigint, belowId: bigint): Condition {
  return {
    text: `call.id IN (
      SELECT * FROM (SELECT id FROM account_call WHERE account_id = ? AND id >= ? AND id < ? LIMIT ?)
      UNION ALL
      SELECT late.id FROM call AS late WHERE late.id > (SELECT value FROM meta WHERE name = 'listed_up_to')
        AND late.account_id = ? AND late.id >= ? AND late.id < ?)`,
    values: [accountId, fromId, belowId, LIMITS.usageExaminedMax + 1, accountId, fromId, belowId],
  };
}
