import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextTurn } from '../../test/until.ts';
import type { BodyReader } from '../http1/server.ts';
import { type BodyLine, BodyLines, type LineLimits } from './body-lines.ts';

const LIMITS: LineLimits = {
  bytesMax: 10_000,
  linesMax: 100,
  lineBytesMax: 1_000,
  sliceLines: 4,
  sliceBytes: 2_000,
  unreadBytesMax: 500,
};

/** A client that sends its next piece when the request is not paused. */
class SendingClient {
  readonly #pieces: Buffer[];
  readonly #ends: boolean;
  #reader: BodyReader | null = null;
  #isPaused = false;
  sentBytes = 0;

  constructor(pieces: readonly (string | Buffer)[], ends = true) {
    this.#pieces = pieces.map((piece) => Buffer.from(piece));
    this.#ends = ends;
  }

  read(reader: BodyReader): void {
    this.#reader = reader;
    void this.#send();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    void this.#send();
  }

  async #send(): Promise<void> {
    while (!this.#isPaused) {
      await nextTurn();
      if (this.#isPaused) return;
      const piece = this.#pieces.shift();
      if (piece === undefined) {
        if (this.#ends) this.#reader!.end();
        else this.#reader!.failed();
        return;
      }
      this.sentBytes += piece.length;
      this.#reader!.data(piece);
    }
  }
}

function linesOf(pieces: readonly (string | Buffer)[], limits: Partial<LineLimits> = {}, ends = true): BodyLines {
  return new BodyLines(new SendingClient(pieces, ends), { ...LIMITS, ...limits });
}

async function readAll(lines: BodyLines): Promise<BodyLine[][]> {
  const slices: BodyLine[][] = [];
  for (let slice = await lines.next(); slice.length > 0; slice = await lines.next()) slices.push(slice);
  return slices;
}

const textsOf = (slices: BodyLine[][]): string[] => slices.flat().map(({ bytes }) => bytes.toString());

test('lines are the same however the body is split into pieces', async () => {
  const body = '{"a":1}\r\n\n  \n{"ü":"€"}\nlast';
  const expected = [
    [1, '{"a":1}'],
    [4, '{"ü":"€"}'],
    [5, 'last'],
  ];
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(Buffer.byteLength(body)), { maxLength: 8 }), async (cuts) => {
      const bytes = Buffer.from(body);
      const ends = [...new Set([...cuts, bytes.length])].toSorted((a, b) => a - b);
      const pieces = ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end)).filter(({ length }) => length > 0);
      const read = (await readAll(linesOf(pieces))).flat();
      expect(read.map(({ number, bytes: line }) => [number, line.toString()])).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});

test('a slice is full with this many lines, or with this many bytes', async () => {
  const short = await readAll(linesOf(['a\nb\nc\nd\ne\n']));
  expect(short.map(({ length }) => length)).toEqual([4, 1]);
  const line = `${'x'.repeat(900)}\n`;
  const long = await readAll(linesOf([line.repeat(4)]));
  expect(long.map(({ length }) => length)).toEqual([3, 1]);
});

test('a client is paused while its lines are not read, so little of the body is in memory', async () => {
  const line = `${'x'.repeat(99)}\n`;
  const client = new SendingClient(Array.from({ length: 90 }, () => line));
  const lines = new BodyLines(client, LIMITS);
  for (let turn = 0; turn < 200; turn++) await nextTurn();
  expect(client.sentBytes).toBeLessThan(LIMITS.unreadBytesMax + 2 * line.length);
  expect(textsOf(await readAll(lines))).toHaveLength(90);
});

test.each<[string, string[], string]>([
  ['more bytes', Array.from({ length: 12 }, () => `${'x'.repeat(899)}\n`), 'larger than 10000 bytes'],
  ['more lines', ['\n'.repeat(101)], 'more than 100 lines'],
  ['a longer line', ['a\n', 'x'.repeat(600), 'x'.repeat(600)], 'Line 2 is longer than 1000 bytes'],
])('a body with %s than allowed is refused', async (_, pieces, message) => {
  await expect(readAll(linesOf(pieces))).rejects.toMatchObject({
    kind: 'request_too_large',
    message: expect.stringContaining(message),
  });
});

test('a body that breaks off is refused, although its last line looks whole', async () => {
  await expect(readAll(linesOf(['{}\n{}'], {}, false))).rejects.toMatchObject({ kind: 'bad_request' });
});
