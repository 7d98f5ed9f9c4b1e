import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { LIMITS } from '../src/limits.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { StreamClient } from './stream-client.ts';
import { until } from './until.ts';
import { WIRE_CASES } from './wire-cases.ts';

/** Requests under one Idempotency-Key are one call: at most one of them reaches a host, at most one is charged. */

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 50 };
const CALLERS = 8;
/** Enough calls for a client that retries often, but few enough to see that it stops. */
const RETRIES_MAX = 50;

let harness: Harness;
let caller: MintedKey;

beforeAll(async () => {
  harness = await startHarness({ hosted: true, row: { onClientGone: 'drain' } });
});
beforeEach(async () => {
  harness.sim.reset();
  caller = await harness.mint();
});
afterEach(async () => {
  await harness.settled();
  await harness.expectCleanBooks();
});
afterAll(() => harness.stop());

interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly code: string | null;
}

interface AskOptions {
  readonly body?: unknown;
  readonly path?: string;
  readonly secret?: string;
  readonly headers?: Record<string, string>;
}

async function ask(key: string, options: AskOptions = {}): Promise<Told> {
  const { body = ASK, path, secret = caller.secret, headers = {} } = options;
  const sent = { authorization: `Bearer ${secret}`, 'idempotency-key': key, ...headers };
  const response = await harness.post(body, sent, path);
  const text = await response.text();
  const code = response.status === 200 ? null : (JSON.parse(text) as { error: { code: string } }).error.code;
  return { status: response.status, headers: response.headers, text, code };
}

async function spentNanousd(accountId = caller.accountId): Promise<bigint> {
  return (await harness.running.books.store.findAccount(accountId))!.spentNanousd;
}

/** Headers, except those that depend on the connection or the time. */
function lasting(headers: Headers): Record<string, string> {
  const { date: _date, connection: _connection, 'keep-alive': _keepAlive, ...rest } = Object.fromEntries(headers);
  return rest;
}

describe.each(Object.entries(WIRE_CASES))('%s', (_name, { path, body, streams }) => {
  test('a finished call is answered again, byte for byte, and charged once', async () => {
    const key = randomUUID();
    const first = await ask(key, { body, path });
    const spent = await spentNanousd();
    const again = await ask(key, { body, path });
    expect([first.status, again.status, again.text]).toEqual([200, 200, first.text]);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect(lasting(again.headers)).toEqual({ ...lasting(first.headers), 'idempotency-replayed': 'true' });
    expect(spent).toBe(BigInt(first.headers.get('x-gateway-cost-nanousd')!));
    expect(await spentNanousd()).toBe(spent);
    expect(harness.sim.received()).toBe(1);
    const receipt = await harness.receipt(first.headers.get('x-gateway-request-id')!, caller.secret);
    expect(receipt).toMatchObject({ idempotency_key: key });
  });

  test('another body is refused in the shape of the wire', async () => {
    const key = randomUUID();
    await ask(key, { body, path });
    const other = await ask(key, { body: { ...body, user: 'someone else' }, path });
    expect([other.status, other.code]).toEqual([422, 'idempotency_mismatch']);
    expect(other.headers.get('x-should-retry')).toBe('false');
    expect(other.headers.get('x-gateway-cost-nanousd')).toBe('0');
    expect(harness.sim.received()).toBe(1);
  });

  test('while it runs, the others are told to wait; afterwards all get the one answer', async () => {
    const key = randomUUID();
    harness.sim.script({ gateHead: 'barrier' });
    const answers = Array.from({ length: CALLERS }, () => ask(key, { body, path }));
    const told: Told[] = [];
    for (const answer of answers) void answer.then((one) => told.push(one));
    await until(() => told.length === CALLERS - 1, 'all but one were answered');
    expect(new Set(told.map(({ status, code }) => `${status} ${code}`))).toEqual(
      new Set(['409 idempotency_in_progress']),
    );
    for (const { headers } of told)
      expect([headers.get('retry-after'), headers.get('x-should-retry')]).toEqual(['1', null]);
    harness.sim.release('barrier');
    const finished = (await Promise.all(answers)).filter(({ status }) => status === 200);
    expect(finished).toHaveLength(1);
    const later = await Promise.all(Array.from({ length: CALLERS }, () => ask(key, { body, path })));
    for (const one of later) expect(one.text).toBe(finished[0]!.text);
    expect(harness.sim.received()).toBe(1);
    expect(await spentNanousd()).toBe(BigInt(finished[0]!.headers.get('x-gateway-cost-nanousd')!));
  });

  test.runIf(streams)('a stream is not given again; its receipt is named', async () => {
    const key = randomUUID();
    const streamed = { ...body, stream: true };
    const first = await ask(key, { body: streamed, path });
    const again = await ask(key, { body: streamed, path });
    expect([first.status, again.status, again.code]).toEqual([200, 409, 'idempotency_finished']);
    expect(again.text).toContain(`/v1/receipts/${first.headers.get('x-gateway-request-id')}`);
    expect(again.headers.get('x-should-retry')).toBe('false');
    expect(harness.sim.received()).toBe(1);
  });

  test('a call that failed or was refused without a charge leaves the key free', async () => {
    const key = randomUUID();
    const refused = await ask(key, { body, path, headers: { 'x-gateway-max-cost-nanousd': '1' } });
    harness.sim.script({ status: 500 });
    const failed = await ask(key, { body, path });
    harness.sim.script(null);
    const served = await ask(key, { body: { ...body, user: 'another body' }, path });
    expect([refused.status, failed.status, served.status]).toEqual([402, 502, 200]);
    expect(served.headers.get('idempotency-replayed')).toBeNull();
    expect(await spentNanousd()).toBe(BigInt(served.headers.get('x-gateway-cost-nanousd')!));
  });
});

describe('a key', () => {
  test('belongs to a route', async () => {
    const body = { model: 'sim-gpt', messages: ASK.messages, input: 'Hello' };
    await ask('one', { body: { ...body, input: undefined } });
    const elsewhere = await ask('one', { body: { model: 'sim-gpt', input: 'Hello' }, path: '/v1/responses' });
    expect([elsewhere.status, elsewhere.code]).toEqual([422, 'idempotency_mismatch']);
  });

  test('is the same under every alias of a route', async () => {
    const first = await ask('alias', { path: '/chat/completions' });
    const again = await ask('alias', { path: '/api/v1/chat/completions' });
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
  });

  test('belongs to an account, and to all of its keys', async () => {
    const stranger = await harness.mint();
    const sibling = await harness.mintFor(caller.accountId);
    const first = await ask('shared');
    const theirs = await ask('shared', { secret: stranger.secret });
    const ours = await ask('shared', { secret: sibling.secret });
    expect(theirs.headers.get('idempotency-replayed')).toBeNull();
    expect([ours.text, ours.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    expect(harness.sim.received()).toBe(2);
  });

  test('gives its answer again when the money is gone and the ceiling is low', async () => {
    const poor = await harness.mint({ creditNanousd: 2_000_000n });
    const first = await ask('last', { secret: poor.secret });
    const rest = 2_000_000n - (await spentNanousd(poor.accountId));
    await harness.running.books.ledger.credit({
      id: harness.running.books.ids.next(),
      accountId: poor.accountId,
      amountNanousd: -rest,
      reference: 'all of it',
      note: null,
      createdMs: 0,
    });
    const again = await ask('last', { secret: poor.secret, headers: { 'x-gateway-max-cost-nanousd': '0' } });
    expect([first.status, again.status, again.text]).toEqual([200, 200, first.text]);
  });

  test.each([
    ['of 255 characters', 'k'.repeat(255), 200],
    ['with spaces and signs', 'a "key" of ~ours!', 200],
    ['that is empty', '', 400],
    ['of 256 characters', 'k'.repeat(256), 400],
    ['outside of ASCII', 'k\u00e9y', 400],
    ['with a tab', 'k\ty', 400],
  ])('%s', async (_title, key, status) => {
    const told = await ask(key);
    expect(told.status).toBe(status);
    if (status === 200) return;
    expect(JSON.parse(told.text)).toMatchObject({ error: { code: 'invalid_header', param: 'idempotency-key' } });
    expect(harness.sim.received()).toBe(0);
  });

  test('stands for no answer that is too large to keep', async () => {
    harness.sim.script({ raw: { contentType: 'application/json', base64: largeAnswer().toString('base64') } });
    const first = await ask('large');
    const again = await ask('large');
    expect([first.status, again.status, again.code]).toEqual([200, 409, 'idempotency_finished']);
    expect(harness.sim.received()).toBe(1);
  });

  test('keeps the answer of a client that left before it came', async () => {
    harness.sim.script({ gateHead: 'late' });
    const client = new StreamClient(harness.url, ASK, {
      authorization: `Bearer ${caller.secret}`,
      'idempotency-key': 'left',
    });
    await harness.sim.waitForGate('late', 1);
    client.leave();
    await until(() => harness.running.gateway.runningCalls.count === 1, 'the call goes on');
    harness.sim.release('late');
    await harness.settled();
    const again = await ask('left');
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(await spentNanousd()).toBe(BigInt(again.headers.get('x-gateway-cost-nanousd')!));
    expect(harness.sim.received()).toBe(1);
  });

  test('never runs twice what a client gave up half way', async () => {
    harness.sim.script({ words: 20, tokensPerChunk: 1, gate: 'words' });
    const body = { ...ASK, stream: true };
    const client = new StreamClient(harness.url, body, {
      authorization: `Bearer ${caller.secret}`,
      'idempotency-key': 'half',
    });
    harness.sim.release('words', 5);
    await until(() => client.events.length > 2, 'some words have come');
    client.leave();
    harness.sim.release('words', 100);
    await harness.settled();
    const again = await ask('half', { body });
    expect([again.status, again.code]).toEqual([409, 'idempotency_finished']);
    expect(harness.sim.received()).toBe(1);
  });

  test('gives its answer again when no host is left to ask', async () => {
    const first = await ask('orphan');
    const { gateway } = harness.running;
    const hosts = gateway.hosts.bind(gateway);
    Object.assign(gateway, { hosts: () => Object.assign(Object.create(hosts()), { candidates: () => [] }) });
    try {
      expect(await ask('orphan')).toMatchObject({ status: 200, text: first.text });
      expect(await ask('orphan', { body: { ...ASK, user: 'x' } })).toMatchObject({ code: 'no_healthy_host' });
      expect(await ask('new')).toMatchObject({ status: 503, code: 'no_healthy_host' });
    } finally {
      Object.assign(gateway, { hosts });
    }
    expect(await ask('new')).toMatchObject({ status: 200 });
  });

  test('is told in the log, without a second charge', async () => {
    await ask('logged');
    await ask('logged');
    const lines = harness.log.filter(({ msg }) => msg === 'call').slice(-2);
    expect(lines).toMatchObject([
      { ended: 'complete', status: 200 },
      { ended: 'replayed', status: 200, cost_nanousd: 0, host: null },
    ]);
  });
});

function largeAnswer(): Buffer {
  const message = { role: 'assistant', content: 'x'.repeat(LIMITS.idempotencyAnswerBytesMax) };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  return Buffer.from(JSON.stringify({ id: 'x', object: 'chat.completion', created: 1, model: 'm', choices, usage }));
}

describe('kept answers', () => {
  test('that cannot be sealed cost nothing and leave no hold', async () => {
    const { sealer } = harness.running.gateway;
    const seal = vi.spyOn(sealer, 'seal').mockImplementation(() => {
      throw new Error('no seal');
    });
    const told = await ask('unsealed').finally(() => seal.mockRestore());
    expect([told.status, told.headers.get('x-gateway-cost-nanousd'), await spentNanousd()]).toEqual([500, '0', 0n]);
    expect(harness.running.books.ledger.openHolds).toBe(0);
    expect((await ask('unsealed')).status).toBe(200);
  });

  test('are nowhere in the books in the clear', async () => {
    harness.sim.script({ text: 'a sentence nobody else would say' });
    const { text } = await ask('secret');
    expect(text).toContain('a sentence nobody else would say');
    for (const file of readdirSync(harness.folder).filter((name) => name.startsWith('tollgate.sqlite'))) {
      expect(readFileSync(`${harness.folder}/${file}`).includes('nobody else would say')).toBe(false);
    }
  });
});

describe('the official client', () => {
  function client(options: ConstructorParameters<typeof OpenAI>[0] = {}): OpenAI {
    const openai = harness.openai(caller.secret, { maxRetries: 5, ...options });
    // The client has the option, but sends it only if the header's name is configured.
    return Object.assign(openai, { idempotencyHeader: 'Idempotency-Key' });
  }

  test('sends its idempotencyKey, and gets one answer for two calls', async () => {
    const create = () => client().chat.completions.create(ASK as never, { idempotencyKey: 'from the client' });
    const [first, second] = [await create(), await create()];
    expect(second).toEqual(first);
    expect(harness.sim.received()).toBe(1);
  });

  test('can name the key in a header of its own', async () => {
    const options = { headers: { 'Idempotency-Key': 'by hand' } };
    const openai = harness.openai(caller.secret);
    const [first, second] = [
      await openai.chat.completions.create(ASK as never, options),
      await openai.chat.completions.create(ASK as never, options),
    ];
    expect(second).toEqual(first);
    expect(harness.sim.received()).toBe(1);
  });

  test('waits out a call that is running, by itself, until the answer is there', async () => {
    harness.sim.script({ gateHead: 'slow' });
    const running = ask('waited for');
    await harness.sim.waitForGate('slow', 1);
    let tries = 0;
    const waiting = client({
      fetch: (...args: Parameters<typeof fetch>) => {
        tries += 1;
        if (tries === 2) harness.sim.release('slow');
        if (tries > RETRIES_MAX) throw new Error('It does not stop.');
        return fetch(...args);
      },
    }).chat.completions.create(ASK as never, { idempotencyKey: 'waited for' });
    const answer = await waiting;
    expect(JSON.parse((await running).text)).toEqual(answer);
    expect(tries).toBeGreaterThan(1);
    expect(harness.sim.received()).toBe(1);
  });

  test('pays once for an answer that was lost on its way', async () => {
    let lost = 0;
    const answer = await client({
      fetch: async (...args: Parameters<typeof fetch>) => {
        const response = await fetch(...args);
        if (++lost > 1) return response;
        await response.text();
        throw new TypeError('The line broke.');
      },
    }).chat.completions.create(ASK as never);
    expect((answer as OpenAI.ChatCompletion).choices[0]?.message.content).toBeTruthy();
    expect(harness.sim.received()).toBe(1);
    expect(await spentNanousd()).toBeGreaterThan(0n);
  });
});
