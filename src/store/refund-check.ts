import { CALL_STATE } from './codes.ts';

/**
 * Calls whose refunds are more than they cost, or that cannot be refunded. A call that was deleted because of its age
 * can no longer be compared. Both engines run it.
 */
export const WRONG_REFUNDS = `
  SELECT refund.call_id AS id FROM (
    SELECT call_id, sum(amount) AS refunded, min(account_id) AS first_account, max(account_id) AS last_account
    FROM credit WHERE call_id IS NOT NULL GROUP BY call_id
  ) AS refund LEFT JOIN call ON call.id = refund.call_id
  WHERE CASE WHEN call.id IS NULL THEN refund.call_id > (SELECT value FROM meta WHERE name = 'closed_up_to')
    ELSE refunded > call.cost OR first_account <> call.account_id OR last_account <> call.account_id
      OR call.state <> ${CALL_STATE.of.settled} END
  ORDER BY refund.call_id`;
