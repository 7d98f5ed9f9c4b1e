import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { foreignAnswer, ownAnswer } from '../../../test/messages-arbitraries.ts';
import { framesOf, streamFaults } from '../../../test/messages-conformity.ts';
import { toldBy } from '../../../test/messages-recordings.ts';
import { billOf, TERMS, WRITE_TERMS } from '../../../test/messages-relay.ts';
import { peekAt, textOf } from '../../../test/messages-request.ts';
import { randomCases } from '../../../test/random-cases.ts';
import { inOrder } from '../../canonical/event-order.ts';
import type { CanonicalEvent, CanonicalResponse } from '../../canonical/events.ts';
import { ResponseFold, unfold } from '../../canonical/fold.ts';
import { ZERO_USAGE } from '../../canonical/usage.ts';
import { SseFramer } from '../../kit/sse.ts';
import { readRequest } from './read-request.ts';
import { readResponse } from './read-response.ts';
import { readStream } from './read-stream.ts';
import { writeResponse } from './write-response.ts';
import { writeStream } from './write-stream.ts';

const BILL = billOf({ ...ZERO_USAGE, freshTokens: 3, outputTokens: 5 });

function streamed(answer: CanonicalResponse): string {
  const writer = writeStream(WRITE_TERMS);
  let text = '';
  unfold(
    answer,
    inOrder((event) => (text += writer.event(event))),
  );
  return text + writer.closing(BILL);
}

function readBack(text: string): CanonicalResponse {
  const fold = new ResponseFold();
  const reader = readStream({}, inOrder(fold.event));
  new SseFramer(1_000_000).push(Buffer.from(text), (frame) => reader.frame(frame));
  return fold.answer()!;
}

/** What survives a translation to this wire: not the ids of the response, nor the host's own finish reason. */
function essence({ blocks, finish, usage }: CanonicalResponse) {
  return { blocks, stopSequence: finish.stopSequence, usage };
}

test('every answer becomes a conforming stream with the same content', () => {
  fc.assert(
    fc.property(ownAnswer, (answer) => {
      const text = streamed(answer);
      expect(streamFaults(text, TERMS.requestId, TERMS.catalogModel)).toEqual([]);
      expect(essence(readBack(text))).toEqual(essence(answer));
    }),
    { numRuns: randomCases(300) },
  );
});

test('a buffered response has the same content as its stream', () => {
  fc.assert(
    fc.property(ownAnswer, (answer) => {
      const body = writeResponse(answer, BILL, WRITE_TERMS);
      const fold = new ResponseFold();
      readResponse(body, {}, inOrder(fold.event));
      const withArguments = answer.blocks.map((block) =>
        block.head.kind === 'tool-call' && block.text === '' ? { ...block, text: '{}' } : block,
      );
      expect(essence(fold.answer()!)).toEqual(essence({ ...answer, blocks: withArguments }));
      expect(toldBy('buffered', body)).toEqual(toldBy('stream', streamed(answer)));
    }),
    { numRuns: randomCases(300) },
  );
});

test('another vendor’s reasoning comes back from the client unchanged, streamed or buffered', () => {
  fc.assert(
    fc.property(foreignAnswer, (answer) => {
      const content = JSON.parse(writeResponse(answer, BILL, WRITE_TERMS).toString()).content;
      if (content.length === 0) return;
      const body = { model: 'm', max_tokens: 9, messages: [{ role: 'assistant', content }] };
      const [turn] = readRequest(textOf(body), peekAt(body)).messages;
      const opaque = (blocks: readonly object[]) => blocks.map((block) => ('opaque' in block ? block.opaque : null));
      expect(opaque(turn!.blocks)).toEqual(opaque(answer.blocks));
      expect(toldBy('stream', streamed(answer))).toEqual(toldBy('buffered', writeResponse(answer, BILL, WRITE_TERMS)));
    }),
  );
});

function events(...list: CanonicalEvent[]): string[] {
  const writer = writeStream(WRITE_TERMS);
  return list.map((event) => writer.event(event));
}

test('text is sent as it arrives', () => {
  const [start, open, delta, end, finish] = events(
    { kind: 'start', id: 'chatcmpl-1', createdS: 1 },
    { kind: 'block-start', block: { kind: 'text' } },
    { kind: 'block-delta', text: 'Ahoy "you"\n' },
    { kind: 'block-end', opaque: null },
    { kind: 'finish', reason: 'stop', raw: 'stop', stopSequence: null },
  );
  expect(framesOf(start!).map(({ event }) => event)).toEqual(['message_start', 'ping']);
  expect(framesOf(start!)[0]!.data.message).toMatchObject({ id: `msg_${TERMS.requestId}`, model: TERMS.catalogModel });
  expect(open).toContain('content_block_start');
  expect(delta).toBe(
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Ahoy \\"you\\"\\n"}}\n\n',
  );
  expect(end).toContain('content_block_stop');
  expect(finish).toBe('');
});

test('redacted reasoning comes whole at the start of its block, a signature once before its block ends', () => {
  const opaque = (form: 'redacted' | 'signature') => ({ vendor: 'anthropic-claude-v1', form, data: 'seal' });
  const [, redacted] = events(
    { kind: 'block-start', block: { kind: 'reasoning' } },
    { kind: 'block-end', opaque: opaque('redacted') },
  );
  expect(framesOf(redacted!).map(({ data }) => data)).toEqual([
    { type: 'content_block_start', index: 0, content_block: { type: 'redacted_thinking', data: 'seal' } },
    { type: 'content_block_stop', index: 0 },
  ]);
  const [head, omitted] = events(
    { kind: 'block-start', block: { kind: 'reasoning' } },
    { kind: 'block-end', opaque: opaque('signature') },
  );
  expect(head).toBe('');
  expect(framesOf(omitted!).map(({ data }) => (data.delta as object | undefined) ?? data.type)).toEqual([
    'content_block_start',
    { type: 'signature_delta', signature: 'seal' },
    'content_block_stop',
  ]);
});

describe('how an answer ended', () => {
  const ending = (
    reason: 'stop' | 'length' | 'tool_calls' | 'content_filter',
    stopSequence: string | null,
    refused = false,
  ) => {
    const block = { head: { kind: refused ? 'refusal' : 'text' } as const, text: 'x', opaque: null };
    const finish = { kind: 'finish', reason, raw: null, stopSequence } as const;
    const answer: CanonicalResponse = {
      id: null,
      createdS: null,
      blocks: [block],
      finish,
      usage: { state: 'missing' },
    };
    const { stop_reason, stop_sequence, stop_details } = JSON.parse(
      writeResponse(answer, BILL, WRITE_TERMS).toString(),
    );
    const { container, ...delta } = framesOf(streamed(answer)).find(({ event }) => event === 'message_delta')!.data
      .delta as Record<string, unknown>;
    expect(container).toBeNull();
    expect(delta).toEqual({ stop_reason, stop_sequence, stop_details });
    return [stop_reason, stop_sequence, stop_details?.type ?? null];
  };

  test.each<[Parameters<typeof ending>, unknown[]]>([
    [
      ['stop', null],
      ['end_turn', null, null],
    ],
    [
      ['stop', 'END'],
      ['stop_sequence', 'END', null],
    ],
    [
      ['length', null],
      ['max_tokens', null, null],
    ],
    [
      ['tool_calls', null],
      ['tool_use', null, null],
    ],
    [
      ['content_filter', null],
      ['refusal', null, 'refusal'],
    ],
    [
      ['stop', null, true],
      ['refusal', null, 'refusal'],
    ],
  ])('%j is written as %j', (given, expected) => {
    expect(ending(...given)).toEqual(expected);
  });
});

test('a buffered response has every member of the vendor’s types, and the cost', () => {
  const finish = { kind: 'finish', reason: 'stop', raw: null, stopSequence: null } as const;
  const body = writeResponse(
    { id: null, createdS: null, blocks: [], finish, usage: { state: 'missing' } },
    BILL,
    WRITE_TERMS,
  ).toString();
  const message = JSON.parse(body);
  for (const name of ['container', 'diagnostics', 'stop_details', 'stop_sequence']) expect(message[name]).toBeNull();
  expect(message).toMatchObject({ type: 'message', role: 'assistant', content: [], model: TERMS.catalogModel });
  expect(body).toContain(`"cost":1.5,"cost_nanousd":${2n ** 60n + 8n}}`);
});

test('arguments cut off by the limit are passed on as text', () => {
  const head = { kind: 'tool-call', id: 'a', name: 'b' } as const;
  const finish = { kind: 'finish', reason: 'length', raw: null, stopSequence: null } as const;
  const answer: CanonicalResponse = {
    id: null,
    createdS: null,
    blocks: [{ head, text: '{"a": "b', opaque: null }],
    finish,
    usage: { state: 'missing' },
  };
  expect(JSON.parse(writeResponse(answer, BILL, WRITE_TERMS).toString()).content[0].input).toBe('{"a": "b');
  expect(toldBy('stream', streamed(answer)).blocks).toEqual([{ kind: 'call', name: 'b', args: '{"a": "b' }]);
});
