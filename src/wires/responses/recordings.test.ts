import { describe, expect, test } from 'vitest';
import {
  eventsIn,
  faultsOfStream,
  type Json,
  readWithSdk,
  recordings,
  relayInPieces,
  TERMS,
} from '../../../test/responses-stream.ts';
import { inOrder } from '../../canonical/event-order.ts';
import { ResponseFold } from '../../canonical/fold.ts';
import { inputTokens, type Usage } from '../../canonical/usage.ts';
import { scanJson } from '../../json/json.ts';
import { SseFramer } from '../../kit/sse.ts';
import { LIMITS } from '../../limits.ts';
import { mendStream } from './mend.ts';
import { peek } from './peek.ts';
import { readRequest } from './read-request.ts';
import { readStream } from './read-stream.ts';

const RECORDINGS = recordings();
const STREAMS = RECORDINGS.filter(({ mode, usage }) => mode === 'stream' && usage !== null);
const REQUESTS = RECORDINGS.filter(({ request, id }) => request !== null && !id.endsWith('openai-text-stream'));

test.skipIf(RECORDINGS.length > 0)(
  'recorded hosts: ../shared/corpus is not here, so only our own streams are read',
  () => {},
);

/** The host's own counts, by the rule of the wire: the input includes the cache. */
function expectUsage(usage: Usage, recorded: Json): void {
  const details = recorded.input_tokens_details as Json;
  expect(inputTokens(usage)).toBe(recorded.input_tokens);
  expect(usage.cacheReadTokens).toBe(details.cached_tokens);
  expect(usage.outputTokens).toBe(recorded.output_tokens);
  expect(usage.reasoningTokens).toBe((recorded.output_tokens_details as Json).reasoning_tokens);
}

function foldOf(body: Buffer, pieceBytes: number): ResponseFold {
  const fold = new ResponseFold();
  const reader = readStream({}, inOrder(fold.event));
  const framer = new SseFramer(LIMITS.sseFrameBytesMax);
  for (let at = 0; at < body.length; at += pieceBytes) {
    framer.push(body.subarray(at, at + pieceBytes), (frame) => reader.frame(frame));
  }
  framer.end((frame) => reader.frame(frame));
  reader.end();
  return fold;
}

describe.skipIf(RECORDINGS.length === 0)('recorded streams', () => {
  test.each(STREAMS)(
    '$id: mended, it obeys the wire, the SDK reads it, and the counts are the host’s',
    async (recording) => {
      const relay = mendStream(TERMS);
      const text = relayInPieces(relay, recording.body, 7);
      expect(relayInPieces(mendStream(TERMS), recording.body, 1 << 20)).toBe(text);
      expect(faultsOfStream(text)).toEqual([]);
      expect(relay.usage.state).toBe('reported');
      expectUsage((relay.usage as { usage: Usage }).usage, recording.usage!);
      const { final } = await readWithSdk(text);
      expect(final.model).toBe('catalog-model');
      expect(final.usage).toMatchObject({
        input_tokens: recording.usage!.input_tokens,
        output_tokens: recording.usage!.output_tokens,
      });
    },
  );

  test.each(STREAMS)('$id: the hub reads the answer that the SDK reads', async ({ body, usage }) => {
    const { final } = await readWithSdk(relayInPieces(mendStream(TERMS), body, 1 << 20));
    const answer = foldOf(body, 5).answer()!;
    expectUsage((answer.usage as { usage: Usage }).usage, usage!);
    const textIn = (kind: string): string =>
      answer.blocks.flatMap(({ head, text }) => (head.kind === kind ? [text] : [])).join('');
    expect(textIn('text')).toBe(final.output_text);
    const calls = final.output.filter((item) => item.type === 'function_call');
    const read = answer.blocks.flatMap(({ head, text }) =>
      head.kind === 'tool-call' ? [[head.id, head.name, text]] : [],
    );
    expect(read).toEqual(calls.map((call) => [call.call_id, call.name, call.arguments]));
    const encrypted = eventsIn(body.toString()).flatMap(({ data }) => {
      const item = data.item as Json | undefined;
      return data.type === 'response.output_item.done' && item!.encrypted_content ? [item!.encrypted_content] : [];
    });
    const opaque = answer.blocks.flatMap((block) => (block.opaque === null ? [] : [block.opaque.data]));
    expect(JSON.stringify(opaque) === JSON.stringify(encrypted), 'encrypted reasoning byte for byte').toBe(true);
  });

  test('an error after the opening is an error before anything was sent', () => {
    const { body } = RECORDINGS.find(({ id }) => id.endsWith('openai-midstream-error'))!;
    const relay = mendStream(TERMS);
    expect(relayInPieces(relay, body, 9)).toBe('');
    expect(relay.error).toMatchObject({ kind: 'credentials', code: 'insufficient_quota' });
    expect(foldOf(body, 9).error).toMatchObject({ kind: 'credentials' });
  });
});

describe.skipIf(RECORDINGS.length === 0)('recorded requests', () => {
  test.each(REQUESTS)('$id: is admitted, and read into the canonical form', ({ request }) => {
    const limits = { depthMax: 64, nodesMax: 1_000_000, keysMax: 1_000_000, numberDigitsMax: 400, keyBytesMax: 4096 };
    const text = scanJson(request!, limits);
    const { messages } = readRequest(text, peek(text));
    expect(messages.length).toBeGreaterThan(0);
  });
});
