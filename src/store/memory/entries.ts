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
    ...reservationsOf(rows, accountId),
  ];
  return newestFirst(entries.filter(({ position }) => position < (before ?? INT64_MAX))).slice(0, limit);
}

function holdEntry({ id, keyId, heldNanousd, createdMs }: Receipt): Entry {
  return { kind: 'hold', position: id, hold: { id, keyId, heldNanousd, createdMs } };
}

function reservationsOf({ jobs }: MemoryRows, accountId: bigint): Entry[] {
  const own = [...jobs.values()].filter((job) => job.accountId === accountId);
  const waiting = own.filter(({ state }) => state === 'queued' || state === 'paused');
  return waiting.map(({ id, keyId, reservedNanousd, createdMs }) => {
    const reservation = { jobId: id, keyId, reservedNanousd, createdMs };
    return { kind: 'reservation', position: id, reservation };
  });
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
