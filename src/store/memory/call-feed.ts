import type { FeedReads } from '../call-feed.ts';
import type { MemoryRows } from './memory-rows.ts';

export function memoryFeed(rows: MemoryRows): FeedReads {
  return {
    openCalls: async (limit) =>
      rows
        .receipts()
        .filter(({ state }) => state === 'open')
        .map(ownerOf)
        .slice(0, limit),
    endedCalls: async (fromId, sinceMs, limit) =>
      rows
        .receipts()
        .filter(({ id, endedMs }) => id >= fromId && endedMs !== null && endedMs >= sinceMs)
        .map(ownerOf)
        .slice(0, limit),
    endedReceipts: async (ids) =>
      rows
        .receipts()
        .filter(({ id, state }) => state !== 'open' && ids.includes(id))
        .map((receipt) => ({ ...receipt })),
  };
}

function ownerOf({ id, accountId, keyId, personId }: ReturnType<MemoryRows['receipts']>[number]) {
  return { id, accountId, keyId, personId };
}
