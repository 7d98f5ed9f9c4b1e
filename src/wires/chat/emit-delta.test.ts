import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inOrder } from '../../canonical/event-order.ts';
import type { CanonicalEvent } from '../../canonical/events.ts';
import { ResponseFold } from '../../canonical/fold.ts';
import { LIMITS } from '../../limits.ts';
import { DeltaEmitter } from './emit-delta.ts';

type Piece = readonly [index: number, words: string];

/** The first fragment of each call has its id and name. */
function deltasOf(pieces: readonly Piece[]): object[] {
  const known = new Set<number>();
  return pieces.map(([index, words]) => {
    const isFirst = !known.has(index);
    known.add(index);
    const head = isFirst ? { id: `call_${index}`, type: 'function' } : {};
    return {
      tool_calls: [{ index, ...head, function: { ...(isFirst && { name: `tool_${index}` }), arguments: words } }],
    };
  });
}

function emitted(...deltas: object[]) {
  const events: CanonicalEvent[] = [];
  const fold = new ResponseFold();
  const sink = inOrder((event) => {
    events.push(event);
    fold.event(event);
  });
  sink({ kind: 'start', id: null, createdS: null });
  const emitter = new DeltaEmitter(sink);
  for (const delta of deltas) emitter.delta({ ...delta });
  const soFar = events.length;
  emitter.finish('tool_calls', null);
  const blocks = fold
    .answer()!
    .blocks.map(({ head, text }) => [head.kind === 'tool-call' ? head.name : head.kind, text]);
  return { blocks, early: events.slice(1, soFar).map(textOf) };
}

function textOf(event: CanonicalEvent): string {
  if (event.kind === 'block-start') return event.block.kind === 'tool-call' ? event.block.name : event.block.kind;
  return event.kind === 'block-delta' ? event.text : 'end';
}

describe('tool calls whose fragments are mixed', () => {
  test('follow one another, each with its own arguments', () => {
    const mixed = deltasOf([
      [0, '{"a"'],
      [1, '{"b":'],
      [0, ':"}"}'],
      [1, '2'],
      [1, '}'],
    ]);
    const { blocks, early } = emitted(...mixed);
    expect(blocks).toEqual([
      ['tool_0', '{"a":"}"}'],
      ['tool_1', '{"b":2}'],
    ]);
    expect(early).toEqual(['tool_0', '{"a"', ':"}"}', 'end', 'tool_1', '{"b":', '2', '}']);
  });

  test('begin at once where the arguments before them are complete', () => {
    const { early } = emitted(
      ...deltasOf([
        [0, '{}'],
        [1, '{'],
      ]),
    );
    expect(early).toEqual(['tool_0', '{}', 'end', 'tool_1', '{']);
  });

  test('may all begin before the first of them has arguments', () => {
    const { blocks, early } = emitted(
      ...deltasOf([
        [0, ''],
        [1, ''],
        [2, ''],
        [2, '[]'],
        [1, '{"b":1}'],
        [0, '{}'],
      ]),
    );
    expect(blocks).toEqual([
      ['tool_0', '{}'],
      ['tool_1', '{"b":1}'],
      ['tool_2', '[]'],
    ]);
    expect(early.at(-1)).toBe('[]');
  });

  test('have all been emitted before text that follows them', () => {
    const { blocks } = emitted(
      ...deltasOf([
        [0, '{'],
        [1, '{}'],
      ]),
      { content: 'Hi' },
    );
    expect(blocks).toEqual([
      ['tool_0', '{'],
      ['tool_1', '{}'],
      ['text', 'Hi'],
    ]);
  });

  test('go on after text within their arguments, which follows them', () => {
    const [first, second, ...rest] = deltasOf([
      [0, '{"a":'],
      [1, '{'],
      [0, '1}'],
      [1, '}'],
    ]);
    const { blocks, early } = emitted(
      first!,
      { content: 'H' },
      second!,
      { reasoning: 'hm' },
      { content: 'i' },
      ...rest,
    );
    expect(blocks).toEqual([
      ['tool_0', '{"a":1}'],
      ['tool_1', '{}'],
      ['text', 'H'],
      ['reasoning', 'hm'],
      ['text', 'i'],
    ]);
    expect(early.at(-1)).toBe('i');
  });

  test('that are never completed end before text within their arguments', () => {
    const { blocks, early } = emitted(...deltasOf([[0, '{"a']]), { content: 'Hi' });
    expect(blocks).toEqual([
      ['tool_0', '{"a'],
      ['text', 'Hi'],
    ]);
    expect(early).toEqual(['tool_0', '{"a']);
  });

  test('go on after text that comes before any of their arguments', () => {
    const [first, rest] = deltasOf([
      [0, ''],
      [0, '{}'],
    ]);
    const { blocks, early } = emitted(first!, { content: 'Hi' }, rest!, { content: '!' });
    expect(blocks).toEqual([
      ['tool_0', '{}'],
      ['text', 'Hi!'],
    ]);
    expect(early).toEqual(['tool_0', '{}', 'end', 'text', 'Hi', '!']);
  });

  test('end before text that follows them if they never have arguments', () => {
    const calls = deltasOf([
      [0, ''],
      [1, ''],
    ]);
    expect(emitted(...calls, { content: 'Hi' }).blocks).toEqual([
      ['tool_0', ''],
      ['tool_1', ''],
      ['text', 'Hi'],
    ]);
  });

  test('may not wait beside more blocks of text than there is room for', () => {
    const pieces = Array.from({ length: LIMITS.streamWordBytesMax / 512 }, (_, at) =>
      at % 2 === 0 ? { content: 'a' } : { refusal: 'b' },
    );
    expect(() => emitted(...deltasOf([[0, '{']]), ...pieces)).toThrow('too long');
  });

  test('may get their names while they wait', () => {
    const named = { tool_calls: [{ index: 1, function: { name: 'late' } }] };
    const unnamed = { tool_calls: [{ index: 1, id: 'call_1', function: { name: '', arguments: '{}' } }] };
    expect(emitted(...deltasOf([[0, '{']]), unnamed, named).blocks).toEqual([
      ['tool_0', '{'],
      ['late', '{}'],
    ]);
  });

  test('cannot go on after their end, but may be padded', () => {
    const ended = deltasOf([
      [0, '{}'],
      [1, '{}'],
      [0, ' \n'],
    ]);
    expect(emitted(...ended).blocks).toEqual([
      ['tool_0', '{}'],
      ['tool_1', '{}'],
    ]);
    expect(() =>
      emitted(
        ...deltasOf([
          [0, '{}'],
          [1, '{}'],
          [0, '{}'],
        ]),
      ),
    ).toThrow('were complete');
  });

  test('may not wait with more than a response may have', () => {
    const piece = 'x'.repeat(LIMITS.streamWordBytesMax / 4);
    const waiting = Array.from({ length: 5 }, (): Piece => [1, piece]);
    expect(() => emitted(...deltasOf([[0, '{'], ...waiting]))).toThrow('too long');
  });

  test('keep all of their arguments, however they are cut and mixed', () => {
    const call = fc.tuple(
      fc.object({ maxDepth: 2 }).map((value) => JSON.stringify(value)),
      fc.integer({ min: 1, max: 7 }),
    );
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 4 }), fc.infiniteStream(fc.nat()), (calls, picks) => {
        const left = calls.map(([words, size]) => words.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? []);
        const pieces: Piece[] = calls.map((_call, index) => [index, '']);
        const remaining = () => left.flatMap((rest, index) => (rest.length > 0 ? [index] : []));
        for (let open = remaining(); open.length > 0; open = remaining()) {
          const index = open[picks.next().value % open.length]!;
          pieces.push([index, left[index]!.shift()!]);
        }
        expect(emitted(...deltasOf(pieces)).blocks).toEqual(calls.map(([words], index) => [`tool_${index}`, words]));
      }),
    );
  });
});

describe('reasoning in several blocks', () => {
  const detail = (index: number, more: object) => ({ type: 'reasoning.text', format: 'vendor', index, ...more });
  const signed = (...deltas: object[]) => {
    const fold = new ResponseFold();
    const sink = inOrder(fold.event);
    sink({ kind: 'start', id: null, createdS: null });
    const emitter = new DeltaEmitter(sink);
    for (const delta of deltas) emitter.delta({ ...delta });
    emitter.finish('stop', null);
    return fold.answer()!.blocks.map(({ text, opaque }) => [text, opaque?.data ?? null]);
  };
  const BLOCKS = [
    ['one', 'S1'],
    ['two', 'S2'],
    ['Hi', null],
  ];

  test('keeps the signature of each block, in a whole response', () => {
    const details = [detail(0, { text: 'one', signature: 'S1' }), detail(1, { text: 'two', signature: 'S2' })];
    expect(signed({ reasoning: 'onetwo', reasoning_details: details, content: 'Hi' })).toEqual(BLOCKS);
    const unnumbered = details.map((one) => ({ ...one, index: undefined }));
    expect(signed({ reasoning: 'onetwo', reasoning_details: unnumbered, content: 'Hi' })).toEqual(BLOCKS);
  });

  test('keeps the signature of each block, in a stream', () => {
    const deltas = [
      { reasoning: 'o', reasoning_details: [detail(0, { text: 'o' })] },
      { reasoning: 'ne', reasoning_details: [detail(0, { text: 'ne' })] },
      { reasoning_details: [detail(0, { signature: 'S1' })] },
      { reasoning: 'two', reasoning_details: [detail(1, { text: 'two' })] },
      { reasoning_details: [detail(1, { signature: 'S2' })] },
      { content: 'Hi' },
    ];
    expect(signed(...deltas)).toEqual(BLOCKS);
  });

  test('keeps signatures that come within the arguments of a call, after the call', () => {
    const call = (words: string, more: object = {}) => ({
      tool_calls: [{ index: 0, function: { arguments: words }, ...more }],
    });
    const deltas = [
      call('', { id: 'call_0', function: { name: 'f', arguments: '' } }),
      { reasoning: 'one', reasoning_details: [detail(0, { text: 'one' })] },
      { reasoning_details: [detail(0, { signature: 'S1' })] },
      { reasoning: 'two', reasoning_details: [detail(1, { text: 'two', signature: 'S2' })] },
      call('{}'),
      { content: 'Hi' },
    ];
    expect(signed(...deltas)).toEqual([['{}', null], ...BLOCKS]);
  });

  test('is one block if only its end has an opaque part', () => {
    const sealed = { type: 'reasoning.encrypted', format: 'vendor', index: 1, data: 'S1' };
    const deltas = [
      { reasoning: 'on', reasoning_details: [detail(0, { text: 'on' })] },
      { reasoning: 'e', reasoning_details: [detail(0, { text: 'e' }), sealed] },
    ];
    expect(signed(...deltas)).toEqual([['one', 'S1']]);
  });
});
