import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ArchiveSlice } from '../programs/archive-reader.ts';
import { type ArchiveManifest, sha256 } from './archive-file.ts';
import { ArchiveWriter, publish } from './write-file.ts';

const MONTH_MS = Date.UTC(2026, 0, 1);
const FIRST = 7n;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-archive-file-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const create = (first = FIRST): Promise<ArchiveWriter> => ArchiveWriter.create(folder, MONTH_MS, 1, first);

function sliceOf(text: string): ArchiveSlice {
  return { firstId: FIRST, upTo: 9n, receipts: 1, spent: 1n, held: 1n, loss: 0n, lines: Buffer.from(text) };
}

test('an archiver that has lost its lock does not write into the file of the next one, and publishes nothing', async () => {
  const stale = await create();
  await stale.add(sliceOf('one\n'));
  const next = await create();
  await next.add(sliceOf('one\n'));
  await stale.add(sliceOf('two\n'));
  const draft = await next.finish(1);
  const { sha256: expected } = JSON.parse(readFileSync(draft.manifest, 'utf8')) as ArchiveManifest;
  expect(sha256(readFileSync(draft.data))).toBe(expected);
  await publish(folder, draft, async () => undefined);
  const late = await stale.finish(1);
  await expect(publish(folder, late, async () => undefined)).rejects.toThrow('ENOENT');
  await (await create()).discard();
  expect(readdirSync(folder).toSorted()).toEqual([`${draft.file.name}.json`, `${draft.file.name}.jsonl.gz`]);
});

test('drafts that a killed archiver left are removed, also those of earlier versions, and those of another ledger stay', async () => {
  await (await create()).finish(1);
  await (await create(8n)).finish(1);
  const others = readdirSync(folder).filter((name) => name.includes('-8.'));
  for (const name of ['receipts-2026-01-001.part', 'receipts-2026-01-001.part.json'])
    writeFileSync(join(folder, name), '');
  writeFileSync(join(folder, `receipts-2026-01-001-${FIRST}.jsonl.gz`), '');
  others.push(`receipts-2026-01-001-${FIRST}.jsonl.gz`);
  await (await create()).discard();
  expect(others).toHaveLength(3);
  expect(readdirSync(folder).toSorted()).toEqual(others.toSorted());
});
