import { expect, test } from 'vitest';
import { placeOfChunk } from '../custody/job-chunks.ts';
import { MasterSealer, masterKey } from '../custody/seal.ts';
import { LIMITS } from '../limits.ts';
import type { JobChunk, JobChunkName } from '../store/jobs.ts';
import { JobContents } from './contents.ts';

const MIB = 1024 * 1024;

/** Stores chunks, and notes how many bytes each commit has. */
function openContents() {
  const commits: number[] = [];
  const chunks = new Map<string, Uint8Array>();
  const nameOf = (name: JobChunkName): string => placeOfChunk(name).join(' ');
  const contents = new JobContents(new MasterSealer([masterKey(new Uint8Array(32))]), {
    putChunks: async (put: readonly JobChunk[]) => {
      commits.push(put.reduce((sum, { sealed }) => sum + sealed.length, 0));
      for (const chunk of put) chunks.set(nameOf(chunk), chunk.sealed);
    },
    readChunk: async (name) => chunks.get(nameOf(name)) ?? null,
  });
  return { contents, commits, chunks };
}

test('a large answer is written in commits of one chunk each, and read back as it was', async () => {
  const { contents, commits } = openContents();
  const body = Buffer.alloc(3 * MIB + 5, 'answer ');
  const result = await contents.storeAnswer(7n, 2, { status: 200, lines: 'a: b\r\n', body });
  expect(commits).toHaveLength(4);
  expect(Math.max(...commits)).toBeLessThan(LIMITS.jobChunkBytesMax + 1024);
  expect(result).toMatchObject({ chunks: 4, bytes: commits.reduce((sum, bytes) => sum + bytes, 0) });
  const read = await contents.readAnswer({ id: 7n, attempts: 2, result });
  expect([read?.status, read?.lines, read?.body.equals(body)]).toEqual([200, 'a: b\r\n', true]);
});

test('an answer of which a chunk is missing is not read', async () => {
  const { contents, chunks } = openContents();
  const result = await contents.storeAnswer(7n, 1, { status: 200, lines: '', body: Buffer.alloc(2 * MIB) });
  chunks.delete([...chunks.keys()][1]!);
  expect(await contents.readAnswer({ id: 7n, attempts: 1, result })).toBeNull();
});
