import { describe, expect, test } from 'vitest';
import {
  billFor,
  eventsIn,
  faultsOfStream,
  fixture,
  framesOf,
  type Json,
  readWithSdk,
  relayInPieces,
  TERMS,
  typesIn,
} from '../../../test/responses-stream.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { SseFrame } from '../../kit/sse.ts';
import type { RelayTerms } from '../wire.ts';
import { mendStream } from './mend.ts';
import type { StreamState } from './stream-state.ts';

const WHOLE = [
  'text',
  'reasoning-parallel-tools',
  'incomplete',
  'refusal',
  'raw-trace-nameless',
  'changing-ids',
  'repeated-index',
  'unannounced',
  'all-at-the-end',
  'no-last-event',
  'open-names',
  'interleaved-tools',
  'part-numbered-one',
];

function mended(name: string, terms: Partial<RelayTerms> = {}, pieceBytes = 1 << 20) {
  const relay = mendStream({ ...TERMS, ...terms });
  return { relay, text: relayInPieces(relay, fixture(name), pieceBytes) };
}

function last(text: string): Json {
  return eventsIn(text).at(-1)!.data;
}

function finalOutput(text: string): Json[] {
  return (last(text).response as Json).output as Json[];
}

function frame(event: Json): SseFrame {
  return new SseFrame(framesOf([event]));
}

describe('every whole stream', () => {
  test.each(WHOLE)('%s: obeys the wire, and both ways of the SDK read it', async (name) => {
    const { text } = mended(name);
    expect(faultsOfStream(text)).toEqual([]);
    const { events, final } = await readWithSdk(text);
    expect(events).toHaveLength(typesIn(text).length);
    expect(final.model).toBe('catalog-model');
    expect(final.output).toHaveLength(finalOutput(text).length);
  });

  test.each(WHOLE)('%s: comes out the same however its bytes arrive', (name) => {
    const { text } = mended(name);
    for (const pieceBytes of [1, 3, 7, 61, 1000]) expect(mended(name, {}, pieceBytes).text).toBe(text);
  });

  test.each(WHOLE)('%s: is mended as recorded', async (name) => {
    await expect(mended(name).text).toMatchFileSnapshot(`../../../fixtures/wires/responses/${name}.mended`);
  });
});

describe('a conforming stream', () => {
  test('is passed on byte for byte, except the events that carry the response', () => {
    const came = fixture('reasoning-parallel-tools').toString().split('\n\n');
    const sent = mended('reasoning-parallel-tools').text.split('\n\n');
    expect(sent).toHaveLength(came.length);
    const changed = came.filter((one, index) => one !== sent[index]).map((one) => /^event: (\S+)/.exec(one)![1]);
    expect(changed).toEqual(['response.created', 'response.in_progress', 'response.completed']);
  });

  test('carries the catalog’s model in every response, and nothing of the host’s account', () => {
    const { text } = mended('raw-trace-nameless');
    const models = eventsIn(text).flatMap(({ data }) =>
      data.response === undefined ? [] : [(data.response as Json).model],
    );
    expect(new Set(models)).toEqual(new Set(['catalog-model']));
    expect(text).not.toContain('somebody');
    expect(text).not.toContain('cost');
    expect(text).not.toContain('output_text":""');
    expect(text).not.toContain('[DONE]');
  });

  test('repeats the caller’s labels though the host never saw them', () => {
    const { text } = mended('text', { request: { metadata: { team: 'a' }, user: 'u1' } });
    expect(last(text).response).toMatchObject({ metadata: { team: 'a' }, user: 'u1', store: false });
  });
});

describe('what waits', () => {
  test('the opening waits for the first event that says something', () => {
    const relay = mendStream(TERMS);
    const [created, progress, added] = eventsIn(fixture('text').toString()).map(({ data }) => frame(data));
    expect(relay.frame(created!)).toBeNull();
    expect(relay.frame(progress!)).toBeNull();
    expect(typesIn(String(relay.frame(added!)))).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
    ]);
  });

  test('a failure before anything was said sends nothing at all', () => {
    const { relay, text } = mended('failed-at-once');
    expect(text).toBe('');
    expect(relay).toMatchObject({ terminal: true, relayedBytes: 0, error: { kind: 'rate', status: 429 } });
  });

  test('the last event waits for the settlement, and has the billed usage', () => {
    const relay = mendStream(TERMS);
    const frames = eventsIn(fixture('text').toString()).map(({ data }) => frame(data));
    const sent = frames.map((one) => relay.frame(one)).filter((one) => one !== null);
    expect(relay).toMatchObject({ terminal: true, usage: { state: 'reported', usage: { freshTokens: 13 } } });
    expect(typesIn(sent.join(''))).not.toContain('response.completed');
    const usage = { ...BILLED, reasoningTokens: 4 };
    expect((last(relay.closing(billFor(usage))).response as Json).usage).toEqual({
      input_tokens: 106,
      input_tokens_details: { cached_tokens: 3, cache_write_tokens: 3, cache_write_1h_tokens: 1 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 4 },
      total_tokens: 113,
    });
  });
});

const BILLED = {
  freshTokens: 100,
  cacheReadTokens: 3,
  cacheWriteTokens: 2,
  cacheWrite1hTokens: 1,
  outputTokens: 7,
  reasoningTokens: 0,
};

describe('what hosts get wrong', () => {
  test('ids that change on the way are held to the first', () => {
    const ids = eventsIn(mended('changing-ids').text).flatMap(({ data }) => [data.item_id, (data.item as Json)?.id]);
    expect(new Set(ids.filter((id) => id !== undefined))).toEqual(new Set(['msg_other_1']));
    expect(last(mended('changing-ids').text).response).toMatchObject({ id: 'resp_f1' });
  });

  test('items that share one index get their own, and whole calls are told as deltas too', () => {
    const { text, relay } = mended('repeated-index');
    const deltas = eventsIn(text).filter(({ name }) => name === 'response.function_call_arguments.delta');
    expect(deltas.map(({ data }) => [data.output_index, data.delta])).toEqual([
      [0, '{"place":"Paris"}'],
      [1, '{"place":"Rome"}'],
    ]);
    // Arguments and the names of both calls.
    expect(relay.relayedBytes).toBe(55);
  });

  test('items and parts nobody announced are announced, and finished at the end', () => {
    expect(typesIn(mended('unannounced').text)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(finalOutput(mended('unannounced').text)).toMatchObject([{ content: [{ text: 'Hello there' }] }]);
  });

  test('a part that the host numbers 1 and then puts at 0 is sent once, as part 0', () => {
    const { text, relay } = mended('part-numbered-one');
    const events = eventsIn(text).map(({ data }) => data);
    expect(events.flatMap(({ delta }) => (delta === undefined ? [] : [delta]))).toEqual([
      'The lock',
      ' opens at',
      ' seven.',
    ]);
    expect(new Set(events.flatMap(({ content_index: at }) => (at === undefined ? [] : [at])))).toEqual(new Set([0]));
    expect(finalOutput(text)).toMatchObject([{ content: [{ text: 'The lock opens at seven.' }] }]);
    expect(relay.relayedBytes).toBe('The lock opens at seven.'.length);
  });

  test('an answer told only by its last event is told from its beginning', () => {
    const { text, relay } = mended('all-at-the-end');
    expect(typesIn(text).filter((type) => type.endsWith('.delta'))).toEqual([
      'response.reasoning_text.delta',
      'response.output_text.delta',
      'response.function_call_arguments.delta',
    ]);
    expect(relay.relayedBytes).toBe(40);
  });

  test('the open specification’s names become the vendor’s, and events no client needs are left out', () => {
    const types = typesIn(mended('open-names').text);
    expect(types).toContain('response.reasoning_text.delta');
    expect(types).not.toContain('keepalive');
    expect(types).not.toContain('vendor.rate_limits');
  });

  test('a call never announced waits for its name', async () => {
    const item = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'go', arguments: '{"a":1}' };
    const relay = mendStream(TERMS);
    const delta = {
      type: 'response.function_call_arguments.delta',
      output_index: 0,
      item_id: 'fc_1',
      delta: '{"a":1}',
    };
    const done = { type: 'response.output_item.done', output_index: 0, item };
    const text = relayInPieces(relay, Buffer.concat([framesOf([delta, done]), Buffer.from('data: [DONE]\n\n')]), 99);
    expect(faultsOfStream(text)).toEqual([]);
    expect((await readWithSdk(text)).final.output).toMatchObject([{ name: 'go', arguments: '{"a":1}' }]);
  });

  test('an item begun and never finished is finished as it came to stand', () => {
    const events = eventsIn(fixture('text').toString()).map(({ data }) => data);
    const open = events.filter(({ type }) => !String(type).endsWith('.done') && type !== 'response.completed');
    const end = {
      type: 'response.incomplete',
      response: { ...(events.at(-1)!.response as Json), status: 'incomplete', output: [] },
    };
    const text = relayInPieces(mendStream(TERMS), framesOf([...open, end]), 50);
    expect(faultsOfStream(text)).toEqual([]);
    expect(finalOutput(text)).toMatchObject([{ status: 'incomplete', content: [{ text: 'Grüße, Welt 🌍!' }] }]);
  });
});

describe('how a stream ends', () => {
  test('cleanly without a last event, when all items are finished', () => {
    const { relay, text } = mended('no-last-event');
    expect(relay).toMatchObject({ terminal: false, mayEndHere: true, usage: { state: 'missing' } });
    expect(last(text)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } });
  });

  test('never cleanly in the middle of an item, or with nothing but reasoning', () => {
    expect(mended('cut').relay).toMatchObject({ terminal: false, mayEndHere: false, error: null });
    const events = eventsIn(fixture('reasoning-parallel-tools').toString()).map(({ data }) => data);
    const thought = events.slice(0, events.findIndex(({ type }) => type === 'response.output_item.done') + 1);
    const relay = mendStream(TERMS);
    relayInPieces(relay, framesOf(thought), 500);
    expect(relay.mayEndHere).toBe(false);
    relayInPieces(relay, Buffer.from('data: [DONE]\n\n'), 500);
    expect(relay.error).toMatchObject({ kind: 'unavailable' });
  });

  test('incomplete stays incomplete', () => {
    expect(last(mended('incomplete').text)).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    });
  });

  test('a failure midway is written as an error and a failed response, with the next sequence numbers', async () => {
    const { relay, text } = mended('failed-midway');
    expect(relay).toMatchObject({ terminal: true, error: { kind: 'unavailable', code: 'server_error' } });
    const error = new GatewayError('host_failed', { message: 'It broke off.' });
    const whole = text + (relay as unknown as StreamState).failure(error);
    expect(faultsOfStream(whole)).toEqual([]);
    expect(typesIn(whole).slice(-2)).toEqual(['error', 'response.failed']);
    expect(last(whole).response).toMatchObject({ status: 'failed', error: { code: 'host_failed' }, usage: null });
    await expect(readWithSdk(whole)).rejects.toMatchObject({ code: 'host_failed', message: 'It broke off.' });
  });

  test('usage in a failed response counts; usage in an opening event is only partial', () => {
    const usage = { input_tokens: 4, output_tokens: 2 };
    const created = { type: 'response.created', response: { id: 'r', usage } };
    const early = mendStream(TERMS);
    early.frame(frame(created));
    expect(early.usage.state).toBe('partial');
    const failed = mendStream(TERMS);
    failed.frame(
      frame({ type: 'response.failed', response: { error: { code: 'server_error', message: 'x' }, usage } }),
    );
    expect(failed).toMatchObject({ usage: { state: 'reported', usage: { outputTokens: 2 } }, error: { status: 500 } });
  });

  test.each([[{}], [[]], ['none'], [{ input_tokens: -1, output_tokens: 2 }]])(
    'the usage %j does not replace counts that can be billed',
    (bad) => {
      const good = { input_tokens: 4, output_tokens: 2 };
      const readingOf = (...usages: unknown[]) => {
        const relay = mendStream(TERMS);
        const types = ['response.created', 'response.in_progress', 'response.completed'].slice(-usages.length);
        types.forEach((type, at) => {
          relay.frame(frame({ type, response: { id: 'r', usage: usages[at] } }));
        });
        return relay.usage;
      };
      const counts = expect.objectContaining({ freshTokens: 4, outputTokens: 2 });
      expect(readingOf(bad)).toEqual({ state: 'missing', defect: expect.any(String) });
      expect(readingOf(good, bad)).toEqual({ state: 'partial', usage: counts, defect: expect.any(String) });
      expect(readingOf(good, bad, good)).toEqual({ state: 'reported', usage: counts });
      expect(readingOf(bad, good)).toEqual({ state: 'reported', usage: counts });
    },
  );

  test.each(['nonsense', '42', '{"type":"response.output_item.added","item":7}', '{}', '{"error":"gone"}'])(
    'nothing a host sends makes it throw: %s',
    (data) => {
      const relay = mendStream(TERMS);
      expect(() => relay.frame(new SseFrame(Buffer.from(`data: ${data}\n\n`)))).not.toThrow();
    },
  );
});

describe('a trace that is not wanted', () => {
  test('is left out everywhere, while what only its vendor can read stays', async () => {
    const { text, relay } = mended('reasoning-parallel-tools', { hideReasoning: true });
    expect(faultsOfStream(text)).toEqual([]);
    expect(text).not.toContain('Two ');
    expect(finalOutput(text)[0]).toEqual({
      id: 'rs_f1',
      type: 'reasoning',
      summary: [],
      encrypted_content: 'enc-AAAA=',
    });
    // The encrypted reasoning is sent, so it counts; the reasoning text is not.
    expect(relay.relayedBytes).toBe(64);
    await readWithSdk(text);
    expect(mended('raw-trace-nameless', { hideReasoning: true }).text).not.toContain('Two and');
  });
});

test('counts the memory of items that are kept for the last event, which takes far more than their text', () => {
  const relay = mendStream(TERMS);
  const lists = Array.from({ length: 1_000 }, () => []);
  const item = { type: 'message', id: 'msg_1', role: 'assistant', content: [], lists };
  expect(relay.keptBytes).toBe(0);
  relay.frame(frame({ type: 'response.output_item.done', output_index: 0, item }));
  expect(relay.keptBytes).toBeGreaterThan(64 * lists.length);
});
