import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KnownHead } from './known-head.ts';
import { type ResponseHead, readResponseHead } from './response-head.ts';

/** As the bytes arrive: other bytes follow the head. */
function arrived(lines: string): { bytes: Buffer; length: number } {
  const head = Buffer.from(lines, 'latin1');
  return { bytes: Buffer.concat([head, Buffer.from('\r\n\r\nbody')]), length: head.length };
}

function reader() {
  const known = new KnownHead();
  return (lines: string): ResponseHead | string => {
    const { bytes, length } = arrived(lines);
    const head = known.read(bytes, length);
    bytes.fill(0);
    return head;
  };
}

function dated(second: number): string {
  return `HTTP/1.1 200 OK\r\ncontent-length: 4\r\ndate: ${second}`;
}

describe('heads of one connection', () => {
  it('are read as each would be alone', () => {
    const status = fc.constantFrom('200 OK', '200 OK', '200 Fine', '204 No Content', '500 Oh');
    const lines = fc.array(
      fc.constantFrom('a: 1', 'a: 2', 'b: 1', 'content-length: 0', 'connection: close', 'broken'),
      {
        maxLength: 3,
      },
    );
    const head = fc.tuple(status, lines).map(([status, lines]) => [`HTTP/1.1 ${status}`, ...lines].join('\r\n'));
    fc.assert(
      fc.property(fc.array(head, { maxLength: 30 }), (heads) => {
        const read = reader();
        for (const lines of heads) {
          const { bytes, length } = arrived(lines);
          expect(read(lines)).toEqual(readResponseHead(bytes, length));
        }
      }),
    );
  });

  it('are read once if they are the same, also after another one', () => {
    const read = reader();
    const first = read(dated(1));
    expect(read(dated(1))).toBe(first);
    expect(read(dated(2))).toMatchObject({ headers: { date: '2' } });
    expect(read(dated(2))).toBe(read(dated(2)));
    expect(read(dated(1))).not.toBe(first);
  });

  it('differ if one begins as the other', () => {
    const read = reader();
    expect(read(dated(12))).toMatchObject({ headers: { date: '12' } });
    expect(read(dated(1))).toMatchObject({ headers: { date: '1' } });
    expect(read(dated(12))).toMatchObject({ headers: { date: '12' } });
  });

  it('cannot be changed by whoever gets them', () => {
    expect(Object.isFrozen((reader()(dated(1)) as ResponseHead).headers)).toBe(true);
  });

  it.each([
    ['long', `${dated(1)}\r\nx: ${'y'.repeat(512)}`],
    ['not a success', 'HTTP/1.1 503 Busy\r\ncontent-length: 0'],
  ])('are read again if they are %s', (_what, lines) => {
    const read = reader();
    expect(read(lines)).not.toBe(read(lines));
  });

  it('are seldom kept once many have differed', () => {
    const read = reader();
    for (let second = 0; second < 20; second++) read(dated(second));
    expect(read(dated(20))).not.toBe(read(dated(20)));
    const later = Array.from({ length: 80 }, () => read(dated(21)));
    expect(new Set(later.slice(0, 20)).size).toBe(20);
    expect(new Set(later.slice(-10)).size).toBe(1);
  });
});
