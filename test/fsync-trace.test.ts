import { describe, expect, test } from 'vitest';
import { judgeCall } from '../campaigns/fsync/judge.ts';
import { readTrace } from '../campaigns/fsync/trace.ts';

/** What the command concludes from a trace. Making one needs strace, reading one does not. */

const CLIENT = '21<TCP:[127.0.0.1:8080->127.0.0.1:50000]>';
const HOST = '22<TCP:[127.0.0.1:50001->127.0.0.1:9000]>';
const LOG = '19</books/tollgate.sqlite-wal>';

const ASKED = `1 read(${CLIENT}, "POST /v1/chat/completions … word", 65536) = 300`;
const WRITTEN = `2 pwrite64(${LOG}, "…", 4096, 32) = 4096`;
const SYNCED = `2 fdatasync(${LOG}) = 0`;
const SENT = `1 writev(${HOST}, [{iov_base="POST /v1/chat/completions", iov_len=25}], 1) = 25`;
const ANSWERED = `1 read(${HOST}, "data: [DONE]\\n\\n", 65536) = 14`;
const PIECE = `1 write(${CLIENT}, "data: {}\\n\\n", 10) = 10`;
const TOLD = `1 write(${CLIENT}, "data: [DONE]\\n\\n", 14) = 14`;

const ORDERLY = [ASKED, WRITTEN, SYNCED, SENT, PIECE, ANSWERED, WRITTEN, SYNCED, TOLD];

function judge(lines: readonly string[], stream = true): string | null {
  const text = lines.map((line, at) => `${line[0]} 1700000000.${100_000 + at}${line.slice(1)}`).join('\n');
  return judgeCall(readTrace(text), { word: 'word', stream, hostPort: 9000 }).missing;
}

describe('a trace', () => {
  test('in the right order shows what it must', () => {
    expect(judge(ORDERLY)).toBeNull();
    const buffered = ORDERLY.filter((line) => line !== PIECE);
    expect(judge(buffered, false)).toBeNull();
  });

  test('shows no hold where its sync comes after the first byte to the host, fails, or never comes', () => {
    expect(judge(ORDERLY.toSpliced(2, 2, SENT, SYNCED))).toBe('the hold is on the disk');
    expect(judge(ORDERLY.with(2, `2 fdatasync(${LOG}) = -1 EIO`))).toBe('the hold is on the disk');
    expect(judge(ORDERLY.toSpliced(2, 1))).toBe('the hold is on the disk');
    expect(judge(ORDERLY.toSpliced(1, 1))).toBe('the hold is written ahead');
  });

  test('shows no settlement where its sync comes after the last byte to the client', () => {
    expect(judge([...ORDERLY.slice(0, 6), TOLD, WRITTEN, SYNCED])).toBe('the settlement is written ahead');
    expect(judge([...ORDERLY.slice(0, 7), TOLD, SYNCED])).toBe('the settlement is on the disk');
  });

  test('shows no settlement where a buffered answer has begun before it', () => {
    expect(judge([ASKED, WRITTEN, SYNCED, SENT, ANSWERED, PIECE, WRITTEN, SYNCED, TOLD], false)).toBe(
      'the settlement is written ahead',
    );
  });

  test('is read across the lines of other threads, and a sync counts from its end', () => {
    const begun = `2 fdatasync(${LOG} <unfinished ...>`;
    const over = '2 <... fdatasync resumed>) = 0';
    expect(judge(ORDERLY.toSpliced(2, 1, begun, PIECE, over))).toBeNull();
    expect(judge(ORDERLY.toSpliced(2, 2, begun, SENT, over))).toBe('the hold is on the disk');
  });
});
