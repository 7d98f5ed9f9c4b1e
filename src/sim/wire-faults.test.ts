import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callRaw, openRaw } from '../../test/raw-client.ts';
import { type Json, sentEvents } from '../../test/sim-caller.ts';
import { parseJson, tryParseJson } from '../json/json.ts';
import { ManualClock } from '../kit/clock.ts';
import { type SimScript, startSim } from './sim.ts';
import type { Sim } from './sim-handle.ts';

/** Faults mean the same on every wire; what is special to one is tested in its own folder. */

interface WireUnderTest {
  readonly path: string;
  readonly ask: Json;
  readonly streams: boolean;
  /** What a stream says when it has come to its end. */
  readonly terminator?: RegExp;
  readonly finish?: RegExp;
  readonly chunksBeforeWords?: number;
}

const VERSION = { 'anthropic-version': '2023-06-01' };
const MESSAGES = [{ role: 'user', content: 'Grüße, 世界 😀' }];
const QUESTIONS = { q: { type: 'noul', instructions: '世界?' } };

const TALKING: WireUnderTest[] = [
  {
    path: '/v1/chat/completions',
    ask: { model: 'm', messages: MESSAGES },
    streams: true,
    terminator: /\[DONE\]/,
    finish: /"finish_reason":"stop"/,
    chunksBeforeWords: 1,
  },
  {
    path: '/v1/messages',
    ask: { model: 'm', max_tokens: 999, messages: MESSAGES },
    streams: true,
    terminator: /message_stop/,
    finish: /"stop_reason":"end_turn"/,
    chunksBeforeWords: 3,
  },
  {
    path: '/v1/responses',
    ask: { model: 'm', input: MESSAGES },
    streams: true,
    terminator: /response\.completed/,
    finish: /output_item\.done/,
    chunksBeforeWords: 4,
  },
  {
    path: '/v1/completions',
    ask: { model: 'm', max_tokens: 999, prompt: 'Grüße, 世界 😀' },
    streams: true,
    terminator: /\[DONE\]/,
    finish: /"finish_reason":"stop"/,
    chunksBeforeWords: 0,
  },
];
const WIRES: WireUnderTest[] = [
  ...TALKING,
  { path: '/v1/embeddings', ask: { model: 'm', input: 'Grüße, 世界' }, streams: false },
  { path: '/v1/systemone', ask: { model: 'm', state: '世界', questions: QUESTIONS }, streams: false },
  {
    path: '/v1/decisions',
    ask: { model: 'm', input: '世界', questions: [{ type: 'predicate', instructions: '世界?' }] },
    streams: false,
  },
];
const EVERY_WAY = WIRES.flatMap((wire) => (wire.streams ? [false, true] : [false]).map((stream) => ({ wire, stream })));

let sim: Sim;

beforeAll(async () => {
  sim = await startSim({ clock: new ManualClock() });
});
beforeEach(() => sim.reset());
afterAll(() => sim.close());

function bodyOf(wire: WireUnderTest, stream: boolean, script: SimScript): Json {
  const asksUsage = stream && /completions$/.test(wire.path);
  return {
    ...wire.ask,
    ...(stream && { stream }),
    ...(asksUsage && { stream_options: { include_usage: true } }),
    sim: script,
  };
}

function call(wire: WireUnderTest, stream: boolean, script: SimScript) {
  return callRaw(sim.url + wire.path, bodyOf(wire, stream, script), { headers: VERSION });
}

function open(wire: WireUnderTest, stream: boolean, script: SimScript) {
  return openRaw(sim.url + wire.path, bodyOf(wire, stream, script), { headers: VERSION });
}

/** Ids differ from call to call but have one length, so that bytes can be compared. */
function withoutIds(text: string): string {
  return text.replaceAll(/"[a-z]+[-_]sim[0-9a-z]+"/g, '"id"');
}

/** Everything of a stream or a body that is JSON. */
function saidIn(text: string): unknown[] {
  const events = sentEvents(text).map((event) => tryParseJson(event.data));
  return events.length > 0 ? events : [tryParseJson(text)];
}

/** Every usage an answer mentions, in order, wherever the wire puts it. */
function usagesIn(said: unknown): Json[] {
  if (typeof said !== 'object' || said === null) return [];
  return Object.entries(said).flatMap(([name, value]) =>
    name === 'usage' ? (value === null ? [] : [value as Json]) : usagesIn(value),
  );
}

function countsOf(usage: Json): unknown[] {
  return Object.values(usage).filter((count) => typeof count === 'number');
}

describe.each(EVERY_WAY)('$wire.path, streamed: $stream', ({ wire, stream }) => {
  test.each([400, 401, 404, 429, 500, 529])('status %i comes in the wire’s own envelope', async (status) => {
    const answer = await call(wire, stream, { status });
    expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/json']);
    expect(answer.headers['retry-after']).toBe(status === 429 ? '1' : undefined);
    const body = parseJson(answer.text) as Json;
    if (wire.path === '/v1/messages')
      expect(body).toMatchObject({ type: 'error', error: { type: expect.any(String) } });
    else if (wire.path === '/v1/systemone') expect(body).toMatchObject({ detail: { message: expect.any(String) } });
    else expect(Object.keys(body.error as Json).sort()).toEqual(['code', 'message', 'param', 'type']);
    const own = await call(wire, stream, { status, errorBody: { mine: true }, headers: { 'X-Mine': 'yes' } });
    expect([own.text, own.headers['x-mine']]).toEqual(['{"mine":true}', 'yes']);
  });

  test('a cut and an early end fall exactly where they are wanted', async () => {
    const { length } = (await call(wire, stream, {})).body;
    for (let at = 0; at < length; at += Math.ceil(length / 7)) {
      const cut = await call(wire, stream, { cutAtByte: at });
      expect([cut.ended, cut.body.length]).toEqual(['cut', at]);
      const ended = await call(wire, stream, { endAtByte: at });
      expect([ended.ended, ended.body.length]).toEqual(['complete', at]);
    }
  });

  test('pieces join to the same bytes, and any bytes can be sent', async () => {
    const whole = await call(wire, stream, {});
    for (const script of [{ splitBytes: 7 }, { chunkDelayMs: 0 }, { dribble: { bytes: 99, everyMs: 0 } }]) {
      expect(withoutIds((await call(wire, stream, script)).text)).toBe(withoutIds(whole.text));
    }
    const raw = { contentType: 'text/plain', base64: Buffer.from('any').toString('base64') };
    expect((await call(wire, stream, { raw })).text).toBe('any');
  });

  test('a gate holds the head, and a hang the rest', async () => {
    const waiting = call(wire, stream, { gateHead: 'g' });
    await sim.waitForGate('g', 1);
    sim.release('g');
    expect((await waiting).status).toBe(200);
    const hung = await open(wire, stream, { hang: 'after-head' });
    expect([hung.statusCode, sim.calls[1]!.bytesWritten]).toEqual([200, 0]);
    hung.destroy();
    await sim.waitForIdle();
  });

  test('usage can be left out, zeroed, negated, broken, written as text or inflated', async () => {
    const lastUsage = async (script: SimScript) => usagesIn(saidIn((await call(wire, stream, script)).text)).at(-1)!;
    const truth = await lastUsage({});
    const counts = countsOf(truth) as number[];
    expect(Math.max(...counts)).toBeGreaterThan(2);
    expect(usagesIn(saidIn((await call(wire, stream, { usage: 'omit' })).text))).toEqual([]);
    expect(await lastUsage({ usage: 'repeat' })).toEqual(truth);
    expect(countsOf(await lastUsage({ usage: 'zero' }))).toEqual(counts.map(() => 0));
    expect(countsOf(await lastUsage({ usage: 'negative' }))).toEqual(counts.map((count) => -1 - count));
    expect(countsOf(await lastUsage({ usage: 'fraction' }))).toEqual(counts.map((count) => count + 0.5));
    expect(countsOf(await lastUsage({ usage: 'string' }))).toEqual([]);
    expect(countsOf(await lastUsage({ usage: { inflate: 3 } }))).toEqual(counts.map((count) => count * 3));
  });

  test('an error after n chunks ends it, with usage if wanted', async () => {
    const answer = await call(wire, stream, { errorAfterChunks: 2 });
    expect([answer.status, answer.ended]).toEqual([200, 'complete']);
    expect(answer.text).toMatch(/"error"|"detail"/);
    expect(wire.terminator?.test(answer.text) ?? false).toBe(false);
    const errors = wire.path === '/v1/responses' ? 2 : 1;
    if (stream) expect(sentEvents(answer.text)).toHaveLength(2 + errors);
    const billed = await call(wire, stream, { errorAfterChunks: 2, errorWithUsage: true });
    expect(usagesIn(saidIn(billed.text).at(-1))).toHaveLength(1);
  });

  test('without end it goes on until the client leaves, and no further than the client reads', async () => {
    const response = await open(wire, stream, { endless: true });
    await once(response, 'data');
    response.pause();
    const [record] = sim.calls;
    for (let turn = 0; turn < 100_000 && !record!.stalled; turn++) await nextTurn();
    expect(record).toMatchObject({ stalled: true, completed: false });
    response.destroy();
    await sim.waitForIdle();
    expect(record).toMatchObject({ completed: false, clientClosed: true });
  });
});

describe.each(TALKING)('a stream of $path', (wire) => {
  test('can lose its terminator and its finish', async () => {
    const whole = (await call(wire, true, {})).text;
    expect([wire.terminator!.test(whole), wire.finish!.test(whole)]).toEqual([true, true]);
    const headless = (await call(wire, true, { omitDone: true, omitFinish: true })).text;
    expect([wire.terminator!.test(headless), wire.finish!.test(headless)]).toEqual([false, false]);
  });

  test('can say any finish, buffered too', async () => {
    for (const stream of [true, false]) {
      expect((await call(wire, stream, { finish: 'content_filter' })).text).toContain('"content_filter"');
    }
  });

  test('can come with CR LF and comments, without names, and with the terminator of another wire', async () => {
    const whole = (await call(wire, true, {})).text;
    const dressed = (await call(wire, true, { crlf: true, commentEvery: 2 })).text;
    expect(dressed.replaceAll('\r\n', '')).not.toContain('\n');
    expect(sentEvents(withoutIds(dressed))).toEqual(sentEvents(withoutIds(whole)));
    const unnamed = sentEvents(withoutIds((await call(wire, true, { omitEventNames: true })).text));
    expect(unnamed).toEqual(sentEvents(withoutIds(whole)).map(({ data }) => ({ name: null, data })));
    if (wire.terminator!.source.includes('DONE')) return;
    expect(sentEvents((await call(wire, true, { addDone: true })).text).at(-1)!.data).toBe('[DONE]');
  });

  test('is answered with this many words, in pieces of this many tokens', async () => {
    const chunks = async (script: SimScript) => sentEvents((await call(wire, true, script)).text).length;
    const [fine, coarse] = [
      await chunks({ words: 30, tokensPerChunk: 1 }),
      await chunks({ words: 30, tokensPerChunk: 30 }),
    ];
    expect(fine - coarse).toBe(29);
    const usage = usagesIn(saidIn((await call(wire, true, { words: 30 })).text)).at(-1)!;
    expect(usage.completion_tokens ?? usage.output_tokens).toBe(30);
    expect((await call(wire, false, { text: 'just "this"' })).text).toContain(JSON.stringify('just "this"'));
  });

  test('repeats its usage cumulatively, or gives it early and never again', async () => {
    const said = async (usage: 'repeat' | 'early-only') =>
      usagesIn(saidIn((await call(wire, true, { usage, words: 20 })).text));
    const repeated = (await said('repeat')).map((usage) => (usage.completion_tokens ?? usage.output_tokens) as number);
    expect(repeated.length).toBeGreaterThan(1);
    expect(repeated.at(-1)).toBe(20);
    expect(repeated).toEqual(repeated.toSorted((a, b) => a - b));
    const early = await said('early-only');
    expect(early.length).toBeGreaterThan(0);
    expect(early.every((usage) => ((usage.completion_tokens ?? usage.output_tokens) as number) < 20)).toBe(true);
  });

  test('that fails tells in its error what was said so far', async () => {
    const errorAfterChunks = wire.chunksBeforeWords! + 2;
    const failed = await call(wire, true, { words: 20, tokensPerChunk: 4, errorAfterChunks, errorWithUsage: true });
    const usage = usagesIn(saidIn(failed.text)).at(-1)!;
    expect(usage.completion_tokens ?? usage.output_tokens).toBe(8);
  });

  test('refuses in the wire’s own way', async () => {
    for (const stream of [true, false]) {
      const { text } = await call(wire, stream, { refusal: 'I would rather not.', tokensPerChunk: 99 });
      expect(text).toContain('I would rather not.');
      if (wire.path !== '/v1/completions') expect(text).toMatch(/refusal/);
      else expect(text).toContain('"finish_reason":"content_filter"');
    }
  });
});
