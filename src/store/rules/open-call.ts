import { CALL_FIELDS, NOTHING_SETTLED, type Receipt, type ValuesOf } from '../../canonical/receipt.ts';
import type { HoldOperation } from '../store.ts';
import type { LedgerRows, Mutable } from './rows.ts';

const CALL_FIELD_NAMES = Object.keys(CALL_FIELDS) as (keyof typeof CALL_FIELDS)[];

/** Adds the row of a hold, or throws and changes nothing if it cannot be one. */
export function addOpenCall(
  rows: LedgerRows,
  hold: HoldOperation,
  windowName: string | null,
  personWindowName: string | null,
): void {
  const priceVersion = rows.prices.get(hold.priceId)?.version;
  if (priceVersion === undefined) throw new Error(`There is no price list ${hold.priceId}.`);
  if (rows.calls.has(hold.id)) throw new Error(`The id ${hold.id} is already in use.`);
  if (hold.id <= rows.closedUpTo) throw new Error(`The id ${hold.id} is in the closed part of the ledger.`);
  rows.calls.set(hold.id, { receipt: openReceipt(hold, priceVersion), windowName, personWindowName });
}

function openReceipt(hold: HoldOperation, priceVersion: string): Mutable<Receipt> {
  return {
    ...callOf(hold),
    state: 'open',
    priceVersion,
    heldNanousd: hold.amountNanousd,
    idempotencyKey: hold.idempotency?.key ?? null,
    endedMs: null,
    ended: null,
    httpStatus: null,
    ...NOTHING_SETTLED,
  };
}

function callOf(hold: HoldOperation): ValuesOf<typeof CALL_FIELDS> {
  const values: Record<string, unknown> = {};
  for (const name of CALL_FIELD_NAMES) values[name] = hold[name] ?? null;
  return values as ValuesOf<typeof CALL_FIELDS>;
}
