import { CAP_WINDOW, windowId } from '../codes.ts';
import { CAP_WINDOWS, type CapWindow } from '../store.ts';
import { startOfDayMs } from '../windows.ts';
import type { OpenHold } from './open-hold.ts';
import type { Statement } from './pipeline.ts';
import { numbers } from './values.ts';

/** What a batch says about the windows that it changes. */
interface WindowUse {
  readonly keys: ReadonlySet<bigint>;
  readonly members: ReadonlyMap<string, { readonly accountId: bigint; readonly personId: bigint }>;
  /** Calls that end: `own` are this process's open holds, the windows of `ended` are in their rows. */
  readonly own: ReadonlyMap<bigint, OpenHold>;
  readonly ended: ReadonlySet<bigint>;
  /** Jobs that start or end; their windows are in their rows. */
  readonly jobs: { readonly jobs: ReadonlySet<bigint> };
}

/** Collects the values of a statement and names their places. */
class Values {
  readonly list: string[] = [];

  place(values: readonly (bigint | number)[]): string {
    return `$${this.list.push(numbers(values))}::int8[]`;
  }
}

/** The windows of the keys at that time, and those of the calls that end; null if there are none. */
export function keyWindowRead({ keys, own, ended, jobs: { jobs } }: WindowUse, atMs: number): Statement | null {
  const values = new Values();
  const wanted: string[] = [];
  if (keys.size > 0) {
    const current = values.place(currentWindows(atMs));
    wanted.push(`SELECT id, (${current})[cap_window + 1] FROM api_key WHERE id = ANY(${values.place([...keys])})`);
  }
  const windows = namesOf(own, 'windowName').map(windowIdOf);
  if (windows.length > 0) {
    const [keyIds, ids] = [windows.map(({ keyId }) => keyId), windows.map(({ id }) => id)];
    wanted.push(`SELECT * FROM unnest(${values.place(keyIds)}, ${values.place(ids)})`);
  }
  if (ended.size > 0) {
    const read = `SELECT key_id, window_id FROM call WHERE id = ANY(${values.place([...ended])})`;
    wanted.push(`${read} AND key_id IS NOT NULL`);
  }
  if (jobs.size > 0) {
    wanted.push(`SELECT key_id, window_id FROM job WHERE id = ANY(${values.place([...jobs])}) AND key_id IS NOT NULL`);
  }
  if (wanted.length === 0) return null;
  const text = `${READ_WINDOWS} WHERE (key_id, window_id) IN (${wanted.join(' UNION ')})`;
  return { text, values: values.list };
}

/** The same for the people in their accounts. Calls of keys without a person need no read. */
export function personWindowRead({ members, own, ended, jobs: { jobs } }: WindowUse, atMs: number): Statement | null {
  const values = new Values();
  const wanted: string[] = [];
  if (members.size > 0) {
    const [accounts, people] = idsOf(members);
    const current = values.place(currentWindows(atMs));
    wanted.push(`SELECT account_id, person_id, (${current})[cap_window + 1] FROM membership WHERE (account_id, person_id)
      IN (SELECT * FROM unnest(${values.place(accounts)}, ${values.place(people)}))`);
  }
  const windows = namesOf(own, 'personWindowName').map(personWindowIdOf);
  if (windows.length > 0) {
    const columns = [
      windows.map((row) => row.accountId),
      windows.map((row) => row.personId),
      windows.map((row) => row.id),
    ];
    wanted.push(`SELECT * FROM unnest(${columns.map((column) => values.place(column)).join(', ')})`);
  }
  if (ended.size > 0) {
    const read = `SELECT account_id, person_id, person_window_id FROM call WHERE id = ANY(${values.place([...ended])})`;
    wanted.push(`${read} AND person_id IS NOT NULL`);
  }
  if (jobs.size > 0) {
    const read = `SELECT account_id, person_id, person_window_id FROM job WHERE id = ANY(${values.place([...jobs])})`;
    wanted.push(`${read} AND person_id IS NOT NULL`);
  }
  if (wanted.length === 0) return null;
  const text = `${READ_PERSON_WINDOWS} WHERE (account_id, person_id, window_id) IN (${wanted.join(' UNION ')})`;
  return { text, values: values.list };
}

export function idsOf(members: WindowUse['members']): [accounts: bigint[], people: bigint[]] {
  const each = [...members.values()];
  return [each.map(({ accountId }) => accountId), each.map(({ personId }) => personId)];
}

function namesOf(own: WindowUse['own'], member: 'windowName' | 'personWindowName'): string[] {
  return [...own.values()].flatMap((hold) => hold[member] ?? []);
}

/** By the code of the cap window. */
function currentWindows(atMs: number): bigint[] {
  const ids: bigint[] = [];
  for (const window of CAP_WINDOWS) ids[Number(CAP_WINDOW.of[window])] = windowId(window, atMs);
  return ids;
}

/** Whether both times have the same windows. */
export function sameWindows(oneMs: number, otherMs: number): boolean {
  return startOfDayMs(oneMs) === startOfDayMs(otherMs);
}

/** The window's key and number, from its name. */
export function windowIdOf(name: string): { readonly keyId: bigint; readonly id: bigint } {
  const { owner, id } = partsOf(name);
  return { keyId: BigInt(owner), id };
}

/** The window's account, person and number, from its name. */
export function personWindowIdOf(name: string): {
  readonly accountId: bigint;
  readonly personId: bigint;
  readonly id: bigint;
} {
  const { owner, id } = partsOf(name);
  const [accountId, personId] = owner.split('/') as [string, string];
  return { accountId: BigInt(accountId), personId: BigInt(personId), id };
}

function partsOf(name: string): { readonly owner: string; readonly id: bigint } {
  const [owner, window, startMs] = name.split(' ') as [string, CapWindow, string];
  return { owner, id: windowId(window, Number(startMs)) };
}

const READ_WINDOWS = 'SELECT key_id, window_id, spent, held, reserved FROM key_window';
const READ_PERSON_WINDOWS = 'SELECT account_id, person_id, window_id, spent, held, reserved FROM person_window';
