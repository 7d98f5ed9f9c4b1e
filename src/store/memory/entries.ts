import type { Receipt } from '../../canonical/receipt.ts';
import type { Credit, Entry, EntryPage } from '../entries.ts';
import { INT64_MAX } from '../int64.ts';
import { monthEntry, newestFirst } from '../programs/entries.ts';
import type { MemoryRows } from './memory-rows.ts';

export function creditsOf({ credits }: MemoryRows, accountId: bigint): Credit[] {
  return [...credits.values()]
    .filter((credit) => credit.accountId === accountId)
    .map(({ kind: _, audit: __, callId = null, ...credit }) => ({ ...credit, callId }));
}

/** What the engines read from their tables. */
export function entriesOf(rows: MemoryRows, accountId: bigint, { before, limit }: EntryPage): Entry[] {
  const receipts = [...rows.forgotten, ...rows.receipts()].filter((receipt) => receipt.accountId === accountId);
  const entries: Entry[] = [
    ...creditsOf(rows, accountId).map((credit) => ({ kind: 'credit', position: credit.id, credit }) as const),
    ...receipts.filter(({ state }) => state === 'open').map(holdEntry),
    ...monthsOf(rows, receipts),
  ];
  return newestFirst(entries.filter(({ position }) => position < (before ?? INT64_MAX))).slice(0, limit);
}

function holdEntry({ id, keyId, heldNanousd, createdMs }: Receipt): Entry {
  return { kind: 'hold', position: id, hold: { id, keyId, heldNanousd, createdMs } };
}

function monthsOf({ months }: MemoryRows, receipts: readonly Receipt[]): Entry[] {
  const closed = Map.groupBy(
    receipts.filter(({ id }) => months.has(id)),
    ({ id }) => months.get(id)!,
  );
  return [...closed].map(([monthMs, ofMonth]) =>
    monthEntry(
      monthMs,
      ofMonth.length,
      ofMonth.reduce((sum, { costNanousd }) => sum + costNanousd, 0n),
    ),
  );
}
