import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callRaw, eventsOf, openRaw, readRaw, sendRaw } from '../../test/raw-client.ts';
import { parseJson } from '../json/json.ts';
import { ManualClock } from '../kit/clock.ts';
import { type SimScript, startSim } from './sim.ts';
import type { Sim } from './sim-handle.ts';

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'Grüße, 世界 😀' }] };
const USAGE_ASKED = { stream: true, stream_options: { include_usage: true } };

let sim: Sim;
let path: string;
const clock = new ManualClock();

beforeAll(async () => {
  sim = await startSim({ clock });
  path = `${sim.url}/v1/chat/completions`;
});
beforeEach(() => sim.reset());
afterAll(() => sim.close());

function call(script: SimScript, more: object = {}) {
  return callRaw(path, { ...ASK, ...more, sim: script });
}

/** Ids differ from call to call but have one length, so that bytes can be compared. */
function withoutIds(text: string): string {
  return text.replaceAll(/"(chatcmpl|call)[-_]sim[0-9a-z]+"/g, '"id"');
}

async function nextBytes(response: IncomingMessage): Promise<string> {
  const [bytes] = (await once(response, 'data')) as [Buffer];
  return bytes.toString();
}

async function usageIn(script: SimScript, more: object): Promise<unknown[]> {
  const { text } = await call(script, more);
  const bodies = 'stream' in more ? eventsOf(text).filter((event) => event !== '[DONE]') : [text];
  return bodies.map((body) => (parseJson(body) as { usage?: unknown }).usage);
}

describe('statuses', () => {
  test.each([400, 401, 403, 404, 408, 429, 500, 502, 503])(
    '%i comes with the vendor’s error, also for a stream',
    async (status) => {
      const answer = await call({ status }, { stream: true });
      expect(answer.status).toBe(status);
      expect(answer.headers['content-type']).toBe('application/json');
      expect(answer.headers['retry-after']).toBe(status === 429 ? '1' : undefined);
      const { error } = parseJson(answer.text) as { error: object };
      expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type']);
    },
  );

  test('body and headers can be given', async () => {
    const headers = { 'Retry-After': '7', 'set-cookie': ['a=1', 'b=2'] };
    const answer = await call({ status: 429, errorBody: { detail: 'no' }, headers });
    expect(answer.text).toBe('{"detail":"no"}');
    expect(answer.headers).toMatchObject({ 'retry-after': '7', 'set-cookie': ['a=1', 'b=2'] });
    expect((await call({ status: 502, errorBody: '<html>' })).text).toBe('<html>');
    expect(await call({ headers: { 'x-mine': 'yes' } })).toMatchObject({ status: 200, headers: { 'x-mine': 'yes' } });
  });
});

describe('cutting and ending at a byte', () => {
  test.each([false, true])('falls exactly there, all over a body (stream: %s)', async (stream) => {
    const whole = await call({ words: 3 }, { stream });
    for (let at = 0; at < whole.body.length; at += 23) {
      const cut = await call({ words: 3, cutAtByte: at }, { stream });
      expect([cut.ended, cut.body.length]).toEqual(['cut', at]);
      const ended = await call({ words: 3, endAtByte: at }, { stream });
      expect([ended.ended, ended.body.length]).toEqual(['complete', at]);
    }
  });

  test('at the very end still denies a stream its orderly end; beyond the end nothing happens', async () => {
    const { length } = (await call({}, { stream: true })).body;
    expect((await call({ cutAtByte: length }, { stream: true })).ended).toBe('cut');
    expect((await call({ cutAtByte: length + 1 }, { stream: true })).ended).toBe('complete');
    expect(sim.calls.map((one) => [one.completed, one.clientClosed, one.bytesWritten])).toEqual([
      [true, false, length],
      [false, false, length],
      [true, false, length],
    ]);
  });
});

describe('pieces', () => {
  test.each<SimScript>([
    { splitBytes: 1 },
    { splitBytes: 7 },
    { splitBytes: 1000 },
    { dribble: { bytes: 50, everyMs: 0 } },
    { chunkDelayMs: 0 },
  ])('of %j join to the same bytes', async (script) => {
    for (const stream of [false, true]) {
      const whole = await call({}, { stream });
      const pieces = await call(script, { stream });
      expect(pieces.ended).toBe('complete');
      expect(withoutIds(pieces.text)).toBe(withoutIds(whole.text));
    }
  });

  test('cut events and characters', async () => {
    sim.script({ splitBytes: 100, gateHead: 'go', text: '世'.repeat(200) });
    const waiting = openRaw(path, { ...ASK, stream: true });
    await sim.waitForGate('go', 1);
    sim.release('go');
    const first = await nextBytes(await waiting);
    expect(first.endsWith('\n\n')).toBe(false);
  });

  test('are not held back over a wait', async () => {
    const response = await openRaw(path, { ...ASK, stream: true, sim: { splitBytes: 1000, gate: 'g' } });
    await sim.waitForGate('g', 1);
    sim.release('g');
    expect(eventsOf(await nextBytes(response))).toHaveLength(1);
    response.destroy();
  });

  test('of a dribble wait for the clock', async () => {
    const response = await openRaw(path, { ...ASK, sim: { dribble: { bytes: 10, everyMs: 1000 } } });
    expect((await nextBytes(response)).length).toBe(10);
    expect(sim.calls[0]!.bytesWritten).toBe(10);
    clock.advance(1000);
    expect((await nextBytes(response)).length).toBe(10);
    response.destroy();
  });
});

describe('waiting', () => {
  test('a delay keeps the head back, a chunk delay each chunk', async () => {
    let arrived = false;
    sim.script({ delayMs: 5000, chunkDelayMs: 100 });
    const sent = sendRaw(path, { ...ASK, stream: true });
    const head = once(sent, 'response').then(([response]) => {
      arrived = true;
      return response as IncomingMessage;
    });
    await sim.waitForCalls(1);
    clock.advance(4999);
    expect(arrived).toBe(false);
    clock.advance(1);
    const response = await head;
    expect(sim.calls[0]!.bytesWritten).toBe(0);
    clock.advance(100);
    expect(eventsOf(await nextBytes(response))).toHaveLength(1);
    response.destroy();
    await sim.waitForIdle();
    expect(clock.pendingTimers).toBe(0);
  });

  test('a gate lets one chunk through for each release, terminator included', async () => {
    sim.script({ gate: 'step', words: 8, tokensPerChunk: 4 });
    const response = await openRaw(path, { ...ASK, stream: true });
    const events: string[] = [];
    for (let chunk = 0; chunk < 5; chunk++) {
      await sim.waitForGate('step', 1);
      expect(eventsOf(events.join(''))).toHaveLength(chunk);
      sim.release('step');
      events.push(await nextBytes(response));
    }
    expect(events.at(-1)).toBe('data: [DONE]\n\n');
    await sim.waitForIdle();
    expect(sim.calls[0]).toMatchObject({ completed: true, clientClosed: false });
  });

  test('a gate before the head holds calls together until they are let go', async () => {
    sim.script({ gateHead: 'barrier' });
    const answers = Promise.all([1, 2, 3].map(() => callRaw(path, ASK)));
    await sim.waitForGate('barrier', 3);
    expect(sim.openResponses()).toBe(3);
    sim.release('barrier', 3);
    expect((await answers).map((answer) => answer.status)).toEqual([200, 200, 200]);
    sim.release('barrier', 1);
    expect((await callRaw(path, ASK)).status).toBe(200);
  });

  test('one who hangs up at a gate leaves its release to the next', async () => {
    sim.script({ gateHead: 'barrier' });
    const impatient = sendRaw(path, ASK);
    await sim.waitForGate('barrier', 1);
    impatient.destroy();
    await sim.waitForIdle();
    expect(sim.calls[0]).toMatchObject({ clientClosed: true, completed: false, status: null });
    sim.release('barrier');
    expect((await callRaw(path, ASK)).status).toBe(200);
  });
});

describe('hanging', () => {
  test('before the head, nothing comes and the connection stays', async () => {
    const sent = sendRaw(path, { ...ASK, sim: { hang: 'before-head' } });
    await sim.waitForCalls(1);
    expect([sim.openResponses(), sim.openConnections()]).toEqual([1, 1]);
    sent.destroy();
    await sim.waitForIdle();
    expect(sim.calls[0]).toMatchObject({ clientClosed: true, status: null });
  });

  test('after the head or after n chunks, exactly that much comes', async () => {
    const bare = await openRaw(path, { ...ASK, stream: true, sim: { hang: 'after-head' } });
    const after = await openRaw(path, { ...ASK, stream: true, sim: { hang: 3, splitBytes: 1000 } });
    expect(bare.statusCode).toBe(200);
    let text = '';
    while (eventsOf(text).length < 3 || !text.endsWith('\n\n')) text += await nextBytes(after);
    expect(sim.calls.map((one) => one.bytesWritten)).toEqual([0, Buffer.byteLength(text)]);
    const whole = await openRaw(path, { ...ASK, sim: { hang: 1 } });
    expect(Number(whole.headers['content-length'])).toBe(Buffer.byteLength(await nextBytes(whole)));
    for (const response of [bare, after, whole]) response.destroy();
    await sim.waitForIdle();
    expect(sim.calls.map((one) => one.clientClosed)).toEqual([true, true, true]);
  });
});

describe('usage', () => {
  test('can be left out, zeroed, negated, broken, written as text or inflated', async () => {
    const [truth] = (await usageIn({}, {})) as [{ prompt_tokens: number; completion_tokens: number }];
    for (const more of [{}, USAGE_ASKED]) {
      const last = async (usage: NonNullable<SimScript['usage']>) => (await usageIn({ usage }, more)).at(-1);
      expect(await last('omit')).toBeUndefined();
      expect(await last('early-only')).toBeUndefined();
      expect(await last('repeat')).toEqual(truth);
      expect(await last('zero')).toMatchObject({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
      expect(await last('negative')).toMatchObject({ prompt_tokens: -1 - truth.prompt_tokens });
      expect(await last('fraction')).toMatchObject({ prompt_tokens: truth.prompt_tokens + 0.5 });
      expect(await last('string')).toMatchObject({ prompt_tokens: String(truth.prompt_tokens) });
      expect(await last({ inflate: 10 })).toMatchObject({ completion_tokens: 10 * truth.completion_tokens });
    }
  });

  test('repeats cumulatively on every chunk, or comes early and never again', async () => {
    const more = { stream: true };
    const repeated = (await usageIn({ usage: 'repeat', words: 10 }, more)) as { completion_tokens: number }[];
    expect(repeated.map((usage) => usage.completion_tokens)).toEqual([0, 4, 8, 10, 10]);
    const early = await usageIn({ usage: 'early-only', words: 10 }, USAGE_ASKED);
    expect(early).toEqual([
      undefined,
      expect.objectContaining({ completion_tokens: 4 }),
      undefined,
      undefined,
      undefined,
    ]);
    expect((await usageIn({ usage: 'omit' }, USAGE_ASKED)).every((usage) => usage === undefined)).toBe(true);
  });
});

describe('streams that go wrong in band', () => {
  test('an error after n chunks ends the stream without terminator, with usage if wanted', async () => {
    const plain = await call({ errorAfterChunks: 2 }, { stream: true });
    expect(plain.ended).toBe('complete');
    const events = eventsOf(plain.text);
    expect(events).toHaveLength(3);
    expect(parseJson(events[2]!)).toEqual({ error: expect.objectContaining({ type: 'server_error' }) });
    const billed = eventsOf((await call({ errorAfterChunks: 2, errorWithUsage: true }, { stream: true })).text);
    expect(parseJson(billed[2]!)).toMatchObject({ error: {}, usage: { completion_tokens: 4 } });
    const buffered = await call({ errorAfterChunks: 0, errorWithUsage: true });
    expect(buffered.status).toBe(200);
    expect(parseJson(buffered.text)).toMatchObject({ error: {}, usage: {} });
  });

  test('terminator and finish reason can be left out', async () => {
    const { text } = await call({ omitDone: true, omitFinish: true }, { stream: true });
    expect(text).not.toContain('[DONE]');
    expect(text).not.toContain('"finish_reason":"stop"');
    expect((await call({ omitFinish: true })).text).toContain('"finish_reason":null');
  });

  test('lines may end in CR LF, and comments stand between events', async () => {
    const plain = await call({ words: 20 }, { stream: true });
    const dressed = await call({ words: 20, crlf: true, commentEvery: 2 }, { stream: true });
    expect(dressed.text.replaceAll('\r\n', '')).not.toContain('\n');
    expect(eventsOf(withoutIds(dressed.text))).toEqual(eventsOf(withoutIds(plain.text)));
    expect(
      dressed.text
        .split('\r\n\r\n')
        .map((block) => block.startsWith(':'))
        .slice(0, 5),
    ).toEqual([false, true, false, false, true]);
    expect(dressed.text.match(/^: /gm)).toHaveLength(Math.floor(eventsOf(plain.text).length / 2));
  });
});

describe('the answer', () => {
  test('can be a number of words, each one token, or any text, whatever tools there are', async () => {
    const tools = [{ type: 'function', function: { name: 'x' } }];
    const usage = (await usageIn({ words: 1234 }, { tools })) as [{ completion_tokens: number }];
    expect(usage[0].completion_tokens).toBe(1234);
    expect((await call({ text: 'just "this"' }, { tools })).text).toContain(JSON.stringify('just "this"'));
    expect((await usageIn({ words: 0 }, {}))[0]).toMatchObject({ completion_tokens: 0 });
  });

  test('can be any bytes at all', async () => {
    const bytes = Buffer.from([0, 255, 10, 13, 200]);
    const raw = { contentType: 'text/event-stream', base64: bytes.toString('base64') };
    const answer = await call({ raw, splitBytes: 2, status: 203 });
    expect([answer.status, answer.headers['content-type'], answer.body]).toEqual([203, 'text/event-stream', bytes]);
    expect((await call({ raw: { ...raw, contentType: 'application/json' } })).headers['content-length']).toBe('5');
  });

  test.each([false, true])(
    'without end waits for a client that does not read, and stops when it goes (stream: %s)',
    async (stream) => {
      const response = await openRaw(path, { ...ASK, stream, sim: { endless: true } });
      const call = sim.calls[0]!;
      let quietTurns = 0;
      for (let turn = 0, written = 0; turn < 100_000 && quietTurns < 500; turn++) {
        quietTurns = call.stalled && call.bytesWritten === written ? quietTurns + 1 : 0;
        written = call.bytesWritten;
        await nextTurn();
      }
      expect(call).toMatchObject({ stalled: true, completed: false });
      expect(call.bytesWritten).toBeLessThan(32 * 1024 * 1024);
      response.destroy();
      await sim.waitForIdle();
      expect(call).toMatchObject({ stalled: false, completed: false, clientClosed: true });
      expect(sim.openConnections()).toBe(0);
    },
  );
});

describe('scripts', () => {
  test('hold for the next calls or for one model; a request’s own faults win', async () => {
    sim.script({ status: 503 }, { times: 1 });
    sim.script({ status: 404, headers: { 'x-from': 'script' } }, { model: 'sim-gpt' });
    expect((await callRaw(path, ASK)).status).toBe(503);
    expect((await callRaw(path, ASK)).status).toBe(404);
    expect((await callRaw(path, { ...ASK, model: 'other' })).status).toBe(200);
    expect(await call({ status: 418 })).toMatchObject({ status: 418, headers: { 'x-from': 'script' } });
    sim.script(null);
    expect((await callRaw(path, ASK)).status).toBe(200);
  });

  test('with a typo are refused, in process and in a request', async () => {
    expect(() => sim.script({ dealyMs: 3 } as SimScript)).toThrow(/Unknown fault 'dealyMs'/);
    const answer = await callRaw(path, { ...ASK, sim: { dealyMs: 3 } });
    expect(answer.status).toBe(400);
    expect(parseJson(answer.text)).toMatchObject({ error: { code: 'unknown_fault', param: 'sim.dealyMs' } });
  });
});

test('a reset cuts what is open and forgets everything', async () => {
  sim.script({ status: 500 });
  sim.release('g', 3);
  const hung = await openRaw(path, { ...ASK, sim: { status: 200, hang: 'after-head' } });
  sim.reset();
  expect((await readRaw(hung)).ended).toBe('cut');
  expect([sim.calls.length, sim.received(), sim.openResponses()]).toEqual([0, 0, 0]);
  const waiting = callRaw(path, { ...ASK, sim: { gateHead: 'g' } });
  await sim.waitForGate('g', 1);
  sim.release('g');
  expect((await waiting).status).toBe(200);
  expect(sim.calls.map((one) => one.index)).toEqual([0]);
});

test('a reset empties the prompt cache', async () => {
  const messages = [{ role: 'user', content: 'rule '.repeat(1100) }];
  const cached = async () =>
    ((await usageIn({}, { messages })) as [{ prompt_tokens_details: { cached_tokens: number } }])[0]
      .prompt_tokens_details;
  await cached();
  expect((await cached()).cached_tokens).toBe(1024);
  sim.reset();
  expect((await cached()).cached_tokens).toBe(0);
});
