import { CALL_STATE, windowId, windowOfId } from '../codes.ts';
import type { Member } from '../people.ts';
import type { CapWindow } from '../store.ts';
import { type MembershipColumns, membershipOf } from './memberships.ts';
import { type PersonColumns, personOf } from './people.ts';
import { type Program, rowOf, rowsOf, type SqlValue } from './program.ts';

interface MemberColumns extends PersonColumns, MembershipColumns {
  readonly window_spent: bigint | null;
  readonly window_held: bigint;
  readonly window_reserved: bigint | null;
}

/** Takes the four windows of a day, by the code of the cap window. What is held is added up, as SQLite does not store it. */
const SELECT = `
  SELECT person.*, membership.*, person_window.spent AS window_spent,
    person_window.reserved AS window_reserved,
    (SELECT CAST(coalesce(sum(held), 0) AS bigint) FROM call
     WHERE state = ${CALL_STATE.of.open} AND call.account_id = membership.account_id
       AND call.person_id = membership.person_id AND call.person_window_id = person_window.window_id) AS window_held
  FROM membership JOIN person ON person.id = membership.person_id
  LEFT JOIN person_window ON person_window.account_id = membership.account_id
    AND person_window.person_id = membership.person_id AND person_window.window_id = CASE cap_window
      WHEN 0 THEN CAST(? AS bigint) WHEN 1 THEN CAST(? AS bigint) WHEN 2 THEN CAST(? AS bigint) ELSE CAST(? AS bigint) END
  WHERE membership.account_id = ?`;

const WINDOWS: readonly CapWindow[] = ['lifetime', 'day', 'week', 'month'];

export function* listMembers(
  accountId: bigint,
  page: { readonly after: bigint | null; readonly limit: number },
  nowMs: number,
): Program<Member[]> {
  const { atMs, windows } = yield* windowsAt(nowMs);
  const rows = yield* rowsOf<MemberColumns>(
    `${SELECT} AND membership.person_id > ? ORDER BY membership.person_id LIMIT ?`,
    ...windows,
    accountId,
    page.after ?? 0n,
    page.limit,
  );
  return rows.map((row) => memberOf(row, atMs));
}

/** Null if the person has no role in the account. */
export function* findMember(accountId: bigint, personId: bigint, nowMs: number): Program<Member | null> {
  const { atMs, windows } = yield* windowsAt(nowMs);
  const row = yield* rowOf<MemberColumns>(`${SELECT} AND membership.person_id = ?`, ...windows, accountId, personId);
  return row === null ? null : memberOf(row, atMs);
}

/** Windows never move back, even if the clock does. */
function* windowsAt(nowMs: number): Program<{ atMs: number; windows: SqlValue[] }> {
  const today = yield* rowOf<{ value: bigint }>("SELECT value FROM meta WHERE name = 'today_ms'");
  const atMs = Math.max(nowMs, Number(today?.value ?? 0n));
  return { atMs, windows: WINDOWS.map((window) => windowId(window, atMs)) };
}

function memberOf(row: MemberColumns, atMs: number): Member {
  const membership = membershipOf(row);
  const span = windowOfId(windowId(membership.capWindow, atMs));
  return {
    person: personOf(row),
    membership,
    window: {
      ...span,
      spentNanousd: row.window_spent ?? 0n,
      heldNanousd: row.window_held,
      reservedNanousd: row.window_reserved ?? 0n,
    },
  };
}
