import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMark, MarkFile, markPath, readMark } from './mark-file.ts';
import type { Progress } from './progress.ts';

const at = (tip: bigint, generation = 1n): Progress => ({
  booksId: 77n,
  generation,
  tip,
  receipts: tip * 2n,
  spentNanousd: tip * 1_000n,
});

describe('the mark of a ledger', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-mark-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  function damage(offset: number): void {
    const bytes = readFileSync(markPath(folder));
    bytes[offset]! ^= 1;
    writeFileSync(markPath(folder), bytes);
  }

  it('reads back what was written last, and has its size from the beginning', () => {
    expect(readMark(folder)).toBe('missing');
    const mark = new MarkFile(folder, at(1n));
    const { size } = statSync(markPath(folder));
    for (let tip = 2n; tip <= 7n; tip++) {
      mark.write(at(tip));
      expect(readMark(folder)).toEqual(at(tip));
    }
    mark.close();
    expect(statSync(markPath(folder)).size).toBe(size);
    expect(statSync(markPath(folder)).mode & 0o777).toBe(0o600);
  });

  it('keeps the format that earlier versions wrote', () => {
    new MarkFile(folder, { booksId: 77n, generation: 2n, tip: 258n, receipts: 3n, spentNanousd: -1n }).close();
    const bytes = readFileSync(markPath(folder));
    expect(bytes.subarray(0, 52).toString('hex')).toBe(
      '746f6c6c6d726b314d00000000000000020000000000000002010000000000000300000000000000ffffffffffffffffa0f54874',
    );
  });

  it('falls back to the write before when the last one is damaged, whichever slot it is in', () => {
    const mark = new MarkFile(folder, at(1n));
    mark.write(at(2n));
    mark.write(at(3n));
    const found = new Set<bigint>();
    const whole = readFileSync(markPath(folder));
    for (const slot of [0, 4096]) {
      writeFileSync(markPath(folder), whole);
      damage(slot + 30);
      found.add((readMark(folder) as Progress).tip);
    }
    expect([...found].toSorted()).toEqual([2n, 3n]);
    mark.close();
  });

  it('is unreadable when both slots are damaged, or the file is cut short', () => {
    new MarkFile(folder, at(1n)).close();
    for (const slot of [0, 4096]) damage(slot + 30);
    expect(readMark(folder)).toBe('unreadable');
    writeFileSync(markPath(folder), 'short');
    expect(readMark(folder)).toBe('unreadable');
  });

  it('prefers a later generation to a higher tip', () => {
    const mark = new MarkFile(folder, at(50n));
    mark.write(at(3n, 2n));
    expect(readMark(folder)).toEqual(at(3n, 2n));
    mark.close();
  });

  it('goes on in a new file when somebody deletes it', () => {
    const mark = new MarkFile(folder, at(1n));
    rmSync(markPath(folder));
    mark.replaceIfDeleted(at(4n));
    expect(readMark(folder)).toEqual(at(4n));
    mark.write(at(5n));
    expect(readMark(folder)).toEqual(at(5n));
    mark.close();
  });

  it('is replaced as a whole by a new one', () => {
    new MarkFile(folder, at(50n)).close();
    createMark(folder, at(2n));
    expect(readMark(folder)).toEqual(at(2n));
  });
});
