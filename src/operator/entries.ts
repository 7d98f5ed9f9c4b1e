import type { z } from 'zod';
import {
  ACCOUNT_PREFIX,
  CREDIT_PREFIX,
  JOB_PREFIX,
  KEY_PREFIX,
  REFUND_PREFIX,
  REQUEST_PREFIX,
} from '../canonical/id-prefixes.ts';
import { formatId, idFloorAt, parseId } from '../kit/ids.ts';
import { toSeconds } from '../kit/unix-seconds.ts';
import type { Entry, ReservationEntry } from '../store/entries.ts';
import { monthName } from '../store/month-tree.ts';
import { invalidMember } from './error.ts';
import type { entryPage } from './input.ts';
import { accountNamed } from './lookup.ts';
import type { OperatorServices } from './services.ts';
import { type ListView, listView } from './view.ts';

/** What moved an account's money, holds it or reserves it. Members that an entry of its type does not have are null. */
export interface EntryView {
  readonly object: 'entry';
  readonly id: string;
  readonly account: string;
  readonly type: 'credit' | 'refund' | 'month' | 'hold' | 'reservation';
  /** For a month, when it began. */
  readonly created: number;
  /** What the entry changed the balance by: below zero for a month's calls, and zero for a hold or a reservation. */
  readonly amount_nanousd: bigint;
  readonly held_nanousd: bigint | null;
  /** For a job that waits to run. */
  readonly reserved_nanousd: bigint | null;
  readonly reference: string | null;
  readonly note: string | null;
  /** The receipt that is refunded, or of the running call. */
  readonly receipt: string | null;
  /** The key of the running call or the waiting job. */
  readonly key: string | null;
  /** How many closed receipts a month has. */
  readonly receipts: number | null;
}

const MONTH_PREFIX = 'month_';

/** The newest first. The calls of the last hour are in no closed month yet. */
export async function listEntries(
  services: OperatorServices,
  input: z.output<typeof entryPage>,
): Promise<ListView<EntryView>> {
  const account = await accountNamed(services, input.account);
  const before = input.after === null ? null : positionOf(input.after);
  const entries = await services.store.listEntries(account.id, { before, limit: input.limit });
  return listView(
    entries.map((entry) => entryView(entry, account.id)),
    input.limit,
  );
}

function entryView(entry: Entry, accountId: bigint): EntryView {
  const view = {
    object: 'entry',
    account: formatId(ACCOUNT_PREFIX, accountId),
    held_nanousd: null,
    reserved_nanousd: null,
    reference: null,
    note: null,
    receipt: null,
    key: null,
    receipts: null,
  } as const;
  if (entry.kind === 'credit') return { ...view, ...creditMembers(entry.credit) };
  if (entry.kind === 'month') {
    const { monthMs, calls, spentNanousd } = entry.month;
    const id = `${MONTH_PREFIX}${monthName(monthMs)}`;
    return { ...view, id, type: 'month', created: monthMs / 1000, amount_nanousd: -spentNanousd, receipts: calls };
  }
  if (entry.kind === 'reservation') return { ...view, ...reservationMembers(entry.reservation) };
  const { id, keyId, heldNanousd, createdMs } = entry.hold;
  const receipt = formatId(REQUEST_PREFIX, id);
  return {
    ...view,
    id: receipt,
    type: 'hold',
    created: toSeconds(createdMs),
    amount_nanousd: 0n,
    held_nanousd: heldNanousd,
    receipt,
    key: keyId === null ? null : formatId(KEY_PREFIX, keyId),
  };
}

function reservationMembers({ jobId, keyId, reservedNanousd, createdMs }: ReservationEntry) {
  return {
    id: formatId(JOB_PREFIX, jobId),
    type: 'reservation',
    created: toSeconds(createdMs),
    amount_nanousd: 0n,
    reserved_nanousd: reservedNanousd,
    key: keyId === null ? null : formatId(KEY_PREFIX, keyId),
  } as const;
}

function creditMembers(credit: Extract<Entry, { kind: 'credit' }>['credit']) {
  const { id, callId, createdMs, amountNanousd, reference, note } = credit;
  return {
    id: formatId(callId === null ? CREDIT_PREFIX : REFUND_PREFIX, id),
    type: callId === null ? 'credit' : 'refund',
    created: toSeconds(createdMs),
    amount_nanousd: amountNanousd,
    reference,
    note,
    receipt: callId === null ? null : formatId(REQUEST_PREFIX, callId),
  } as const;
}

/** Where the page after this entry begins. */
function positionOf(text: string): bigint {
  for (const prefix of [CREDIT_PREFIX, REFUND_PREFIX, REQUEST_PREFIX, JOB_PREFIX]) {
    const id = parseId(prefix, text);
    if (id !== null) return id;
  }
  const month = /^month_(\d{4}-(?:0[1-9]|1[0-2]))$/.exec(text)?.[1];
  if (month !== undefined) return idFloorAt(Date.parse(`${month}-01T00:00Z`));
  throw invalidMember('after', 'must be the id of an entry, as `next` gives it.');
}
