import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callRaw, openRaw, sendRaw } from '../../test/raw-client.ts';
import { parseJson } from '../json/json.ts';
import { startSim } from './sim.ts';
import type { Sim } from './sim-handle.ts';

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }] };

let sim: Sim;

beforeEach(async () => {
  sim = await startSim({ callsKept: 8 });
});
afterEach(() => sim.close());

function chat(body: unknown) {
  return callRaw(`${sim.url}/v1/chat/completions`, body, { headers: { authorization: 'Bearer k', 'x-twice': 'a' } });
}

async function control(path: string, ask?: unknown) {
  const answer = await callRaw(`${sim.url}/sim/${path}`, ask, { method: ask === undefined ? 'GET' : 'POST' });
  return { status: answer.status, body: parseJson(answer.text) as Record<string, unknown> };
}

describe('calls', () => {
  test('are recorded with what was sent and what became of them', async () => {
    const answer = await chat(ASK);
    await sim.waitForIdle();
    expect(sim.calls).toEqual([
      {
        index: 0,
        method: 'POST',
        path: '/v1/chat/completions',
        headers: expect.objectContaining({ authorization: 'Bearer k', 'x-twice': 'a' }),
        body: JSON.stringify(ASK),
        bytesReceived: JSON.stringify(ASK).length,
        received: true,
        model: 'sim-gpt',
        status: 200,
        bytesWritten: answer.body.length,
        stalled: false,
        completed: true,
        clientClosed: false,
      },
    ]);
  });

  test('count as received once their body is here', async () => {
    const socket = connect(sim.port, '127.0.0.1');
    socket.write('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{"mod');
    for (let turn = 0; turn < 10_000 && sim.calls[0]?.bytesReceived !== 5; turn++) await nextTurn();
    const upload = sim.calls[0]!;
    expect(upload).toMatchObject({ bytesReceived: 5, received: false, body: '' });
    await chat(ASK);
    expect([sim.received(), sim.calls.length]).toEqual([1, 2]);
    socket.destroy();
    await sim.waitForIdle();
    expect(upload.clientClosed).toBe(true);
  });

  test('are forgotten from the oldest on, but still counted', async () => {
    for (let sent = 0; sent < 20; sent++) await chat(ASK);
    await sim.waitForCalls(20);
    expect(sim.calls.length).toBeLessThanOrEqual(8);
    expect(sim.calls.at(-1)!.index).toBe(19);
    expect(sim.received()).toBe(20);
  });
});

describe('other paths', () => {
  test('list the models of every wire and describe any', async () => {
    const list = await callRaw(`${sim.url}/v1/models`, undefined, { method: 'GET' });
    const { data } = parseJson(list.text) as { data: { id: string }[] };
    expect(data.map((model) => model.id)).toEqual([
      ...['sim-gpt', 'sim-gpt-mini', 'sim-claude', 'sim-responses', 'sim-embed', 'sim-decide'],
    ]);
    const one = await callRaw(`${sim.url}/v1/models/a%2Fb`, undefined, { method: 'GET' });
    expect(parseJson(one.text)).toEqual({ id: 'a/b', object: 'model', created: 1_767_225_600, owned_by: 'simulated' });
  });

  test('are unknown to it, in the vendor’s words', async () => {
    const answer = await callRaw(`${sim.url}/v1/nothing?x=1`, ASK);
    expect(answer.status).toBe(404);
    expect(answer.text).toContain('Invalid URL (POST /v1/nothing)');
    expect((await callRaw(`${sim.url}/v1/chat/completions`, undefined, { method: 'GET' })).status).toBe(404);
  });
});

describe('control over HTTP', () => {
  test('scripts, releases, waits, lists and resets as in process', async () => {
    expect(await control('health')).toEqual({ status: 200, body: { ok: true } });
    await control('script', { script: { gateHead: 'g' }, times: 1, model: 'sim-gpt' });
    const answer = chat(ASK);
    await control('wait', { calls: 1, gate: 'g', waiting: 1 });
    expect((await control('calls')).body).toMatchObject({
      received: 1,
      open_responses: 1,
      open_connections: 2,
      calls: [{ index: 0, model: 'sim-gpt', completed: false }],
    });
    await control('release', { gate: 'g' });
    expect((await answer).status).toBe(200);
    await control('script', { script: { status: 500 } });
    await control('script', { script: null });
    expect((await chat(ASK)).status).toBe(200);
    await control('reset', {});
    expect((await control('calls')).body).toMatchObject({ received: 0, calls: [] });
  });

  test.each([
    ['script', { script: { dealyMs: 1 } }, 'unknown_fault'],
    ['script', { scirpt: {} }, 'invalid_control_call'],
    ['script', { script: {}, times: 0 }, 'invalid_control_call'],
    ['release', { gate: '' }, 'invalid_control_call'],
    ['release', '{', 'invalid_json'],
    ['nothing', {}, 'unknown_url'],
  ])('%s of %j is refused', async (path, ask, code) => {
    const { status, body } = await control(path, ask);
    expect(status).toBe(code === 'unknown_url' ? 404 : 400);
    expect(body).toMatchObject({ error: { code } });
  });
});

describe('control by a web page', () => {
  test.each([{ host: 'evil.example' }, { host: 'localhost.evil.example:80' }, { origin: 'http://127.0.0.1' }])(
    'is refused: %j',
    async (headers) => {
      for (const [method, path, ask] of [
        ['GET', 'calls', undefined],
        ['POST', 'script', { script: { status: 500 } }],
      ] as const) {
        const answer = await callRaw(`${sim.url}/sim/${path}`, ask, { method, headers });
        expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('127.0.0.1')]);
      }
      expect((await chat(ASK)).status).toBe(200);
    },
  );

  test.each(['localhost', 'LOCALHOST:1', '[::1]:80'])('this machine by the name of %s is no page', async (host) => {
    expect((await callRaw(`${sim.url}/sim/health`, undefined, { method: 'GET', headers: { host } })).status).toBe(200);
  });
});

describe('closing', () => {
  test('ends hung responses and leaves nothing open', async () => {
    const hung = await openRaw(`${sim.url}/v1/chat/completions`, { ...ASK, sim: { hang: 'after-head' } });
    hung.on('error', () => {});
    const gone = new Promise((resolve) => hung.once('close', resolve));
    await sim.close();
    await gone;
    expect([sim.openResponses(), sim.openConnections()]).toEqual([0, 0]);
    const refused = sendRaw(sim.url, ASK);
    await expect(once(refused, 'response')).rejects.toThrow('ECONNREFUSED');
    sim = await startSim();
  });
});
