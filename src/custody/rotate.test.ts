import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { aJob } from '../../test/job-fixtures.ts';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { MemoryStore } from '../store/memory/memory-store.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { NewProviderKey } from '../store/store.ts';
import { placeOf } from './custody.ts';
import { placeOfChunk } from './job-chunks.ts';
import { type RotationPage, rotatePage, sealStatus } from './rotate.ts';
import { MasterSealer, masterKey, sealedUnder } from './seal.ts';
import { mergedRows, sealedJobChunks, sealedProviderKeys } from './sealed-rows.ts';

const OLD = masterKey(randomBytes(32));
const NEW = masterKey(randomBytes(32));
const LOST = masterKey(randomBytes(32));
let store: MemoryStore;

beforeEach(() => {
  store = new MemoryStore(new ManualClock());
});

function rowOf(id: bigint, sealer: MasterSealer, account = id): NewProviderKey {
  const place = { id, accountId: account, provider: 'cloud', baseUrl: 'https://resource.example/openai/v1' };
  const sealed = sealer.seal(Buffer.from(`key ${id}`), placeOf(place));
  return { ...place, lastFour: 'tail', sealed, createdMs: 1, verifiedMs: 1 };
}

async function fill(count: number, sealer: MasterSealer): Promise<void> {
  for (let id = 1n; id <= count; id++) {
    await store.createAccount({ id, name: `a${id}`, kind: 'prepaid', createdMs: 1 });
    await store.putProviderKey(rowOf(id, sealer));
  }
}

async function openAll(sealer: MasterSealer): Promise<(string | null)[]> {
  const rows = await store.providerKeysAfter(null, 1000);
  return rows.map((row) => sealer.open(row.sealed, placeOf(row))?.toString() ?? null);
}

describe('rotation', () => {
  test('re-encrypts every row once under the first key, page by page', async () => {
    const count = LIMITS.sealRotationRows + 7;
    await fill(count, new MasterSealer([OLD]));
    const sealer = new MasterSealer([NEW, OLD]);
    const first = await rotatePage(sealedProviderKeys(store), sealer, null);
    expect(first).toMatchObject({ examined: LIMITS.sealRotationRows, rewrapped: LIMITS.sealRotationRows });
    const second = await rotatePage(sealedProviderKeys(store), sealer, first.next);
    expect(second).toMatchObject({ examined: 7, rewrapped: 7 });
    expect(await rotatePage(sealedProviderKeys(store), sealer, second.next)).toMatchObject({ examined: 0, next: null });
    const opened = await openAll(new MasterSealer([NEW]));
    expect(opened).toEqual(Array.from({ length: count }, (_, at) => `key ${at + 1}`));
  });

  test('skips finished rows when it is interrupted and started again', async () => {
    await fill(3, new MasterSealer([OLD]));
    const sealer = new MasterSealer([NEW, OLD]);
    await rotatePage(sealedProviderKeys(store), sealer, 2n);
    expect(await rotatePage(sealedProviderKeys(store), sealer, null)).toMatchObject({
      examined: 3,
      rewrapped: 2,
      upToDate: 1,
    });
    expect(await rotatePage(sealedProviderKeys(store), sealer, null)).toMatchObject({
      rewrapped: 0,
      upToDate: 3,
      unreadable: 0,
    });
  });

  test('does not touch a row that its owner replaced or removed meanwhile', async () => {
    await fill(2, new MasterSealer([OLD]));
    const sealer = new MasterSealer([NEW, OLD]);
    const fresh = { ...rowOf(1n, sealer), id: 9n, sealed: rowOf(9n, sealer, 1n).sealed };
    const racing: Pick<MemoryStore, 'providerKeysAfter' | 'resealProviderKey'> = {
      providerKeysAfter: async (after, limit) => {
        const rows = await store.providerKeysAfter(after, limit);
        await store.putProviderKey(fresh);
        await store.deleteProviderKey(2n, 'cloud');
        return rows;
      },
      resealProviderKey: (id, before, after) => store.resealProviderKey(id, before, after),
    };
    expect(await rotatePage(sealedProviderKeys(racing), sealer, null)).toMatchObject({
      examined: 2,
      changedMeanwhile: 2,
      rewrapped: 0,
    });
    expect(await store.providerKeysAfter(null, 10)).toMatchObject([{ id: 9n, sealed: fresh.sealed }]);
  });

  test('counts rows that cannot be decrypted, and leaves them unchanged', async () => {
    await fill(1, new MasterSealer([LOST]));
    const current = new MasterSealer([NEW]);
    await store.createAccount({ id: 5n, name: 'five', kind: 'prepaid', createdMs: 1 });
    await store.putProviderKey({ ...rowOf(5n, current), baseUrl: 'https://elsewhere.example/openai/v1' });
    const before = await store.providerKeysAfter(null, 10);
    expect(await rotatePage(sealedProviderKeys(store), current, null)).toMatchObject({
      examined: 2,
      unreadable: 2,
      rewrapped: 0,
    });
    expect(await store.providerKeysAfter(null, 10)).toEqual(before);
  });
});

test('re-encrypts the requests and results of jobs too, whole jobs at a time', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-rotate-'));
  const books = await openSqliteStore({ folder, clock: new ManualClock(), threads: false });
  const [before, sealer, after] = [new MasterSealer([OLD]), new MasterSealer([NEW, OLD]), new MasterSealer([NEW])];
  await books.createAccount({ id: 1n, name: 'one', kind: 'prepaid', createdMs: 1 });
  // Its id lies between those of the jobs.
  await books.putProviderKey(rowOf(12n, before, 1n));
  const parts = [10n, 11n, 13n].flatMap((jobId) => Array.from({ length: 11 }, (_, part) => ({ jobId, part })));
  const chunks = parts.map(({ jobId, part }) => {
    const name = { jobId, attempt: 0, digest: `digest-${jobId}`, part };
    return { ...name, sealed: before.seal(Buffer.from(`part ${part} of ${jobId}`), placeOfChunk(name)) };
  });
  await books.jobs.stage([aJob(10n, 0n), aJob(11n, 0n), aJob(13n, 0n)], chunks);
  const rows = mergedRows(sealedProviderKeys(books), sealedJobChunks(books.jobs));
  let rewrapped = 0;
  for (let next: bigint | null = 0n; next !== null; ) {
    const page: RotationPage = await rotatePage(rows, sealer, next);
    rewrapped += page.rewrapped;
    next = page.next;
  }
  expect(rewrapped).toBe(chunks.length + 1);
  for (const chunk of chunks) {
    const sealed = await books.jobs.readChunk(chunk);
    expect(after.open(sealed!, placeOfChunk(chunk))?.toString()).toBe(`part ${chunk.part} of ${chunk.jobId}`);
  }
  expect(await sealStatus(rows, sealer)).toMatchObject({ rows: chunks.length + 1, unreadableRows: 0 });
  await books.close();
  rmSync(folder, { recursive: true });
});

test('the status counts rows by master key and lists those that cannot be decrypted', async () => {
  await fill(2, new MasterSealer([OLD]));
  const sealer = new MasterSealer([NEW, OLD]);
  await store.putProviderKey(rowOf(3n, sealer, 1n));
  await store.createAccount({ id: 7n, name: 'seven', kind: 'prepaid', createdMs: 1 });
  await store.putProviderKey(rowOf(7n, new MasterSealer([LOST])));
  const status = await sealStatus(sealedProviderKeys(store), sealer);
  expect(status).toMatchObject({ rows: 3, unreadableRows: 1, unreadable: [{ accountId: 7n, provider: 'cloud' }] });
  expect(Object.fromEntries(status.byKey)).toEqual({ [OLD.id]: 1, [NEW.id]: 1, [LOST.id]: 1 });
});

describe('a sealed row', () => {
  const sealer = new MasterSealer([NEW]);
  const row = rowOf(1n, sealer);

  test.each([
    ['account', { accountId: 2n }],
    ['row', { id: 2n }],
    ['provider', { provider: 'other' }],
    ['origin', { baseUrl: 'https://evil.example/openai/v1' }],
    ['path', { baseUrl: 'https://resource.example/other/openai/v1' }],
  ])('cannot be decrypted when it is copied to another %s', (_, moved) => {
    expect(sealer.open(row.sealed, placeOf(row))).not.toBeNull();
    expect(sealedUnder(row.sealed)).toBe(NEW.id);
    expect(sealer.open(row.sealed, placeOf({ ...row, ...moved }))).toBeNull();
  });
});
