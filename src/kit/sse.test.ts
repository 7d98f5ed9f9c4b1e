import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { cutBytes } from '../../test/cut-bytes.ts';
import { expectSame } from '../../test/expect-same.ts';
import { randomCases } from '../../test/random-cases.ts';
import { encodeSse, SseFrame, SseFramer, SseFrameTooLarge } from './sse.ts';

interface Framed {
  readonly frames: SseFrame[];
  readonly rest: Buffer | null;
}

function frame(chunks: readonly (string | Buffer)[], frameBytesMax = 1_000_000): Framed {
  const framer = new SseFramer(frameBytesMax);
  const frames: SseFrame[] = [];
  const onFrame = (one: SseFrame): unknown => frames.push(one);
  for (const chunk of chunks) framer.push(Buffer.from(chunk as string), onFrame);
  return { frames, rest: framer.end(onFrame) };
}

function raws({ frames }: Framed): string[] {
  return frames.map(({ raw }) => raw.toString());
}

function fields(frames: readonly SseFrame[]): unknown[] {
  return frames.map(({ event, data, isComment }) => ({ event, data, isComment }));
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('SseFramer', () => {
  it.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('splits at the blank line, with %s', (_, end) => {
    const first = `event: a${end}data: 1${end}${end}`;
    const second = `data: 2${end}${end}`;
    expect(raws(frame([first + second]))).toEqual([first, second]);
  });

  it('hands out a frame with its last CR, and begins the next one with a following LF', () => {
    expect(raws(frame(['data: 1\r\n\r', '\ndata: 2\r\n\r\n']))).toEqual(['data: 1\r\n\r', '\ndata: 2\r\n\r\n']);
    expect(fields(frame(['data: 1\r\n\r', '\ndata: 2\r\n\r\n']).frames)).toMatchObject([{ data: '1' }, { data: '2' }]);
    expect(frame(['data: 1\r\n\r', '\n'])).toMatchObject({ frames: [{ data: '1' }], rest: null });
    expect(raws(frame(['data: 1\r', '\n\r', '\n']))).toEqual(['data: 1\r\n\r']);
  });

  it('reads an extra blank line as an empty frame', () => {
    expect(fields(frame(['\n\ndata: 1\n\n\n']).frames)).toEqual([
      { event: null, data: null, isComment: true },
      { event: null, data: null, isComment: true },
      { event: null, data: '1', isComment: false },
      { event: null, data: null, isComment: true },
    ]);
  });

  it('drops a byte order mark at the start of the stream, however it is cut, and only there', () => {
    const bytes = Buffer.from('\ufeffdata: 1\n\n\ufeffdata: 2\n\n');
    const whole = frame([bytes]);
    const cut = frame([...bytes].map((byte) => Buffer.of(byte)));
    expect(raws(whole)).toEqual(['data: 1\n\n', '\ufeffdata: 2\n\n']);
    expect(raws(cut)).toEqual(raws(whole));
    expect(raws(frame([Buffer.of(0xef), Buffer.of(0xbb), ': x\n\n'])).join('')).toHaveLength('\ufffd: x\n\n'.length);
    expect(frame([Buffer.of(0xef, 0xbb)]).rest).toEqual(Buffer.of(0xef, 0xbb));
  });

  it('does not copy a frame within one chunk', () => {
    const chunk = Buffer.from('data: 1\n\ndata: 2\n\n');
    const framer = new SseFramer(100);
    const offsets: number[] = [];
    framer.push(chunk, ({ raw }) => {
      expect(raw.buffer).toBe(chunk.buffer);
      offsets.push(raw.byteOffset - chunk.byteOffset);
    });
    expect(offsets).toEqual([0, 9]);
  });

  it('keeps the bytes of a frame that came in pieces after later frames came', () => {
    expect(raws(frame(['data', ': 1\n', '\nda', 'ta: 2\n\n']))).toEqual(['data: 1\n\n', 'data: 2\n\n']);
  });

  it('returns the bytes of an unfinished frame', () => {
    expect(frame(['data: 1\n\ndata: [DO']).rest?.toString()).toBe('data: [DO');
    expect(frame(['data: 1\n\n']).rest).toBeNull();
    expect(frame([]).rest).toBeNull();
  });

  it.each(['data: 1\n', 'data: 1\r\n', 'data: 1\r', 'event: x\ndata: 1\n'])(
    'ends %j, which lacks only its blank line',
    (text) => {
      const { frames, rest } = frame([text]);
      expect(rest).toBeNull();
      expect(frames).toMatchObject([{ data: '1' }]);
      expect(raws(frame([frames[0]!.raw, 'data: 2\n\n']))).toHaveLength(2);
    },
  );

  it('refuses a frame above the limit, whole or in pieces', () => {
    const exact = 'data: 34\n\n';
    expect(raws(frame([exact, exact], 10))).toEqual([exact, exact]);
    expect(raws(frame([exact + exact], 10))).toEqual([exact, exact]);
    expect(() => frame(['data: 345\n\n'], 10)).toThrow(SseFrameTooLarge);
    expect(() => frame(['data: 345\n', '\n'], 10)).toThrow(SseFrameTooLarge);
    expect(() => frame(['data: 3', '4567'], 10)).toThrow(SseFrameTooLarge);
  });

  it('takes linear time when bytes come one by one', () => {
    const searched = vi.spyOn(Buffer.prototype, 'indexOf');
    let copiedBytes = 0;
    const copy = Buffer.prototype.copy;
    vi.spyOn(Buffer.prototype, 'copy').mockImplementation(function (this: Buffer, ...args) {
      const copied = copy.apply(this, args);
      copiedBytes += copied;
      return copied;
    });
    const text = `data: ${'x'.repeat(50_000)}\n\n`;
    const framer = new SseFramer(100_000);
    let frames = 0;
    for (const character of text) framer.push(Buffer.from(character), () => frames++);
    expect(frames).toBe(1);
    expect(searched.mock.calls.length).toBeLessThanOrEqual(2 * text.length);
    expect(copiedBytes).toBeLessThanOrEqual(3 * text.length);
  });

  it('searches no byte of a chunk more than twice', () => {
    let searchedBytes = 0;
    const indexOf = Buffer.prototype.indexOf;
    vi.spyOn(Buffer.prototype, 'indexOf').mockImplementation(function (this: Buffer, value, from, ...more) {
      const at = indexOf.call(this, value, from, ...more);
      searchedBytes += (at === -1 ? this.length : at) - Number(from ?? 0);
      return at;
    });
    for (const end of ['\n', '\r', '\r\n']) {
      searchedBytes = 0;
      const text = `data: {"some":"json"}${end}${end}`.repeat(2000);
      expect(frame([text]).frames).toHaveLength(2000);
      expect(searchedBytes).toBeLessThanOrEqual(2 * text.length);
    }
  });
});

describe('SseFrame', () => {
  it.each([
    ['data: {"a":1}\n\n', null, '{"a":1}', false],
    ['data:{"a":1}\r\n\r\n', null, '{"a":1}', false],
    ['data:  two spaces \r\r', null, ' two spaces ', false],
    ['data\n\n', null, null, false],
    ['data:\n\n', null, null, false],
    ['data: 1\ndata: 2\r\ndata:3\rdata\n\n', null, '1\n2\n3\n', false],
    ['event: a\ndata: 日本\n\n', 'a', '日本', false],
    ['data: x\nevent:b\nevent: c\n\n', 'c', 'x', false],
    ['event:\ndata: x\n\n', null, 'x', false],
    ['event: a\n\n', 'a', null, false],
    ['id: 1\nretry: 5\n\n', null, null, false],
    ['Data: x\ndatax: y\n\n', null, null, false],
    [': comment\n\n', null, null, true],
    [': one\n: two\n\n', null, null, true],
    [': comment\ndata: x\n\n', null, 'x', false],
    ['\n', null, null, true],
    ['data: a:b: c\n\n', null, 'a:b: c', false],
  ])('reads %j', (text, event, data, isComment) => {
    expect(fields([new SseFrame(Buffer.from(text))])).toEqual([{ event, data, isComment }]);
    expect(fields(frame([text]).frames)).toEqual([{ event, data, isComment }]);
  });
});

describe('encodeSse', () => {
  it('writes an event', () => {
    expect(encodeSse({ data: '{"a":1}' })).toBe('data: {"a":1}\n\n');
    expect(encodeSse({ event: 'ping', data: '' })).toBe('event: ping\ndata: \n\n');
    expect(encodeSse({ data: 'a\nb\r\nc\rd' })).toBe('data: a\ndata: b\ndata: c\ndata: d\n\n');
  });
});

const lineEnds = fc.constantFrom('\n', '\r\n', '\r');
const texts = fc.string({ unit: fc.constantFrom(' ', 'a', ':', '"', 'é', '日', '😀', 'data:'), maxLength: 12 });
const lines = fc.oneof(
  { weight: 4, arbitrary: texts.map((text) => `data: ${text}`) },
  texts.map((text) => `event:${text}`),
  texts.map((text) => `:${text}`),
  texts.map((text) => `x${text}`),
);
/** Each line with its own end, and the end of the blank line. */
const events = fc.tuple(fc.array(fc.tuple(lines, lineEnds), { maxLength: 4 }), lineEnds);
const streams = fc.array(events, { maxLength: 6 });

/** CR followed by LF is one line end, so a blank line must not begin with LF after CR. */
function writeStream(stream: readonly (readonly [readonly (readonly [string, string])[], string])[]): string[] {
  let last = '';
  const put = (line: string, end: string): string => {
    const safe = line === '' && last.endsWith('\r') && end === '\n' ? '\r' : end;
    last = line + safe;
    return last;
  };
  return stream.map(([written, blank]) => written.map(([line, end]) => put(line, end)).join('') + put('', blank));
}

describe('SseFramer, with a callback that consumes known frames', () => {
  /** Consumes whole one-line frames that begin with this text, and records its calls. */
  function taking(
    chunks: readonly string[],
    known: string,
    frameBytesMax = 1_000,
  ): { events: string[]; asked: number } {
    const framer = new SseFramer(frameBytesMax);
    const events: string[] = [];
    let asked = 0;
    const onFrame = ({ raw }: SseFrame): unknown => events.push(`frame ${raw}`);
    const take = (bytes: Buffer, from: number): number => {
      asked++;
      let end = from;
      while (bytes.indexOf(known, end) === end && bytes.includes('\n\n', end)) end = bytes.indexOf('\n\n', end) + 2;
      if (end > from) events.push(`taken ${bytes.toString('utf8', from, end)}`);
      return end;
    };
    for (const chunk of chunks) framer.push(Buffer.from(chunk), onFrame, take);
    const rest = framer.end(onFrame);
    if (rest !== null) events.push(`rest ${rest}`);
    return { events, asked };
  }

  it('calls it at the start of every frame, and continues where it stopped', () => {
    const { events } = taking(['k: 1\n\nk: 2\n\ndata: 3\n\nk: 4\n\nk: 5\n\n\n', 'k: 6\n\n', 'data: 7\n\n'], 'k');
    expect(events).toEqual([
      'taken k: 1\n\nk: 2\n\n',
      'frame data: 3\n\n',
      'taken k: 4\n\nk: 5\n\n',
      'frame \n',
      'taken k: 6\n\n',
      'frame data: 7\n\n',
    ]);
  });

  it('calls it for a frame in pieces once that is whole, and never inside a frame', () => {
    const { events, asked } = taking(['data: 1\n', 'k: 2\n\n', 'k: ', '3\n', '\nk: 4\n\nk', ': 5\n\n'], 'k');
    expect(events).toEqual(['frame data: 1\nk: 2\n\n', 'taken k: 3\n\n', 'taken k: 4\n\n', 'taken k: 5\n\n']);
    expect(asked).toBe(9);
  });

  it('counts the lines of a frame that follows consumed ones', () => {
    expect(taking(['k: 1\n\ndata: a\ndata: b\n', '\nk: 2\n\nda', 'ta: c\n'], 'k').events).toEqual([
      'taken k: 1\n\n',
      'frame data: a\ndata: b\n\n',
      'taken k: 2\n\n',
      'frame data: c\n\n',
    ]);
  });

  it('does not call it at a line end that belongs to the previous frame', () => {
    expect(taking(['data: 1\r\n\r', '\nk: 2\n\n', 'k: 3\n\n'], 'k').events).toEqual([
      'frame data: 1\r\n\r',
      'frame \nk: 2\n\n',
      'taken k: 3\n\n',
    ]);
  });

  it('calls it after a byte order mark', () => {
    expect(taking(['\ufeffk: 1\n\nk: 2\n\n'], 'k').events).toEqual(['taken k: 1\n\nk: 2\n\n']);
  });

  it('applies the size limit to frames that it does not consume', () => {
    expect(() => taking(['k: 1\n\n', `data: ${'x'.repeat(50)}\n\n`], 'k', 40)).toThrow(SseFrameTooLarge);
  });
});

describe('SseFramer, for any stream cut in any way', () => {
  it('finds all frames and loses no byte', () => {
    fc.assert(
      fc.property(streams, fc.array(fc.nat(200), { maxLength: 12 }), fc.boolean(), (stream, cuts, withMark) => {
        const written = writeStream(stream);
        const bytes = Buffer.from((withMark ? '\ufeff' : '') + written.join(''));
        const { frames, rest } = frame(cutBytes(bytes, cuts));
        expectSame(rest, null);
        expectSame(fields(frames), fields(written.map((text) => new SseFrame(Buffer.from(text)))));
        const whole = written.join('');
        const passed = raws({ frames, rest }).join('');
        expectSame(passed === whole || `${passed}\n` === whole, true);
      }),
      { numRuns: randomCases(5000) },
    );
  });

  it('reads back what encodeSse wrote', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('a', ' ', '\n', '\r', '日'), maxLength: 10 })),
        (datas) => {
          const { frames } = frame([datas.map((data) => encodeSse({ data })).join('')]);
          expect(frames.map(({ data }) => data)).toEqual(
            datas.map((data) => (data === '' ? null : data.replace(/\r\n|\r/g, '\n'))),
          );
        },
      ),
    );
  });
});
