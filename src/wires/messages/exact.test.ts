import { describe, expect, test } from 'vitest';
import { framesOf, streamFaults } from '../../../test/messages-conformity.ts';
import { allRecordings, expectedUsage, toldBy } from '../../../test/messages-recordings.ts';
import { feed, PIECES, relayWhole, TERMS } from '../../../test/messages-relay.ts';
import { exactStream } from './exact.ts';
import { mendStream } from './mend.ts';

/** Only hosts that keep the rules may have this relay; a block without its end breaks one. */
const conforming = allRecordings().recordings.filter(
  ({ id, mode, error, careless }) =>
    mode === 'stream' && error === null && !careless && !/tool-cut-by-the-limit|max-tokens-stream/.test(id),
);

describe.each(conforming.map((recording) => [recording.id, recording] as const))('%s', (_id, recording) => {
  test.each(PIECES)('passes as it came, cut every %i bytes', (pieceBytes) => {
    const relay = exactStream(TERMS);
    const client = relayWhole(relay, recording.body, pieceBytes);
    expect(streamFaults(client, TERMS.requestId, TERMS.catalogModel)).toEqual([]);
    expect(toldBy('stream', client)).toEqual(toldBy('stream', recording.body));
    expect(relay.usage).toEqual({ state: 'reported', usage: expectedUsage(recording) });
    const content = (text: string) => text.split('\n\n').filter((frame) => /^event: (content_block|ping)/.test(frame));
    expect(content(client)).toEqual(content(recording.body.toString()));
  });
});

test('both relays close a stream in the same words', () => {
  const { body } = conforming.find(({ id }) => id === 'thinking-and-parallel-tools')!;
  const last = (client: string) => client.slice(client.indexOf('event: message_delta'));
  expect(last(relayWhole(exactStream(TERMS), body, 64))).toBe(last(relayWhole(mendStream(TERMS), body, 64)));
});

test('what was relayed is estimated without parsing: near the bytes of the model’s words', () => {
  for (const { body } of conforming) {
    const exact = exactStream(TERMS);
    const mended = mendStream(TERMS);
    feed(exact, body, 64);
    feed(mended, body, 64);
    expect(exact.relayedBytes > 0).toBe(mended.relayedBytes > 0);
    expect(exact.relayedBytes).toBeGreaterThanOrEqual(mended.relayedBytes * 0.9);
  }
});

test('a comment is left out, an error ends the stream, a receipt of the host is not passed', () => {
  const relay = exactStream(TERMS);
  const frames = [
    ': hello\n\n',
    'event: message_start\ndata: {"type":"message_start","message":{"id":"m","usage":{"input_tokens":1}}}\n\n',
    'event: gateway_receipt\ndata: {"type":"gateway_receipt"}\n\n',
    'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"x"}}\n\n',
  ];
  const client = feed(relay, Buffer.from(frames.join('')), 64);
  expect(framesOf(client).map(({ event }) => event)).toEqual(['message_start']);
  expect(relay.error).toMatchObject({ kind: 'unavailable', status: 500 });
});
