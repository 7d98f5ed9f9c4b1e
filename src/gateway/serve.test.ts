import { beforeEach, describe, expect, test } from 'vitest';
import { chatAnswer, chatFrame, FINISH_FRAME, type SentRequest, USAGE_FRAME } from '../../test/fake-hosts.ts';
import type { FakeSink } from '../../test/fake-sink.ts';
import { ask, GatewayFixture } from '../../test/gateway-fixture.ts';
import { LIMITS } from '../limits.ts';
import { openRecord } from './exchange-record.ts';
import { handOver } from './host-call.ts';
import { mayHaveRun } from './meter.ts';
import { noteOverrun, type Served, serve } from './serve.ts';
import { type Admitted, understand } from './understand.ts';

let fixture: GatewayFixture;
let sink: FakeSink;

beforeEach(async () => {
  fixture = await GatewayFixture.open();
  sink = fixture.sink();
});

function admit(body: Record<string, unknown> = ask()): Admitted {
  const call = fixture.call(body);
  return understand(fixture.gateway, call, openRecord(call)) as Admitted;
}

function served(body: Record<string, unknown> = ask()): Promise<Served> {
  return serve(fixture.gateway, admit(body), sink, null);
}

function hostsAsked(): string[] {
  return fixture.hosts.requests.map(({ host }) => host);
}

function stateOf(host: string): string {
  return fixture.gateway.health.report().find((report) => report.host === host)!.state;
}

const ERROR = { error: { message: 'down', type: 'server_error' } };

test('the body of a request to a host is given out once', () => {
  const take = handOver(Buffer.from('{}'));
  expect(take().toString()).toBe('{}');
  expect(take).toThrow('The body of a request to a host was already handed over.');
});

describe('the first host', () => {
  test('is the cheapest, and the only one asked if it answers', async () => {
    const serving = served();
    (await fixture.hosts.next()).answer(200, chatAnswer());
    expect(await serving).toMatchObject({ ended: 'complete', host: 'alpha', attempts: 1, error: null });
    expect(hostsAsked()).toEqual(['alpha']);
  });

  test('is not asked for a client that is already gone', async () => {
    sink.leave();
    expect(await served()).toMatchObject({ ended: 'client_gone', host: null, attempts: 0, httpStatus: 499 });
    expect(hostsAsked()).toEqual([]);
  });
});

describe('another host of the same model', () => {
  test.each<[string, (request: SentRequest) => void]>([
    ['refuses the connection', (request) => request.fail('ECONNREFUSED')],
    ['answers 500', (request) => request.answer(500, ERROR)],
    ['is at its rate limit', (request) => request.answer(429, ERROR)],
    ['refuses our key', (request) => request.answer(401, ERROR)],
  ])('is asked if the first one %s', async (_, failing) => {
    const serving = served();
    failing(await fixture.hosts.next());
    const second = await fixture.hosts.next();
    expect(second).toMatchObject({ host: 'beta', body: { model: 'ferry-at-beta' } });
    second.answer(200, chatAnswer());
    expect(await serving).toMatchObject({
      ended: 'complete',
      host: 'beta',
      attempts: 2,
      tries: [{ host: 'alpha' }, { host: 'beta', outcome: 'complete' }],
    });
  });

  test('is asked for a stream while nothing has left for the client', async () => {
    const serving = served(ask({ stream: true }));
    (await fixture.hosts.next()).answer(503, ERROR);
    (await fixture.hosts.next()).stream(chatFrame('Hello'), FINISH_FRAME, USAGE_FRAME, '[DONE]');
    expect(await serving).toMatchObject({ ended: 'complete', host: 'beta', attempts: 2 });
  });

  test('is never asked after the head of a buffered answer', async () => {
    const serving = served();
    const request = await fixture.hosts.next();
    request.head(200, { 'content-type': 'application/json' });
    request.fail('ECONNRESET');
    expect(await serving).toMatchObject({ ended: 'failed', attempts: 1, error: { code: 'host_failed' } });
    expect(hostsAsked()).toEqual(['alpha']);
  });

  test('is never asked after content of a stream', async () => {
    const serving = served(ask({ stream: true }));
    const request = await fixture.hosts.next();
    request.stream(chatFrame('Hel'));
    request.fail('ECONNRESET');
    expect(await serving).toMatchObject({ ended: 'upstream_error', attempts: 1, contentLeft: true });
    expect(hostsAsked()).toEqual(['alpha']);
  });

  test('is never asked after a keep-alive has sent the client’s head', async () => {
    const serving = served(ask({ stream: true }));
    const request = await fixture.hosts.next();
    request.head(200, { 'content-type': 'text/event-stream' });
    fixture.clock.advance(fixture.gateway.limits.keepAliveMs);
    expect(sink.headSent).toBe(true);
    request.fail('ECONNRESET');
    expect(await serving).toMatchObject({ ended: 'upstream_error', attempts: 1 });
    expect(hostsAsked()).toEqual(['alpha']);
  });

  test.each([
    ['the request itself is refused', 400, { error: { message: 'bad', type: 'invalid_request_error', code: 'x' } }],
    ['the prompt is too long', 400, { error: { message: 'too long', code: 'context_length_exceeded' } }],
  ])('is never asked if %s', async (_, status, body) => {
    const serving = served();
    (await fixture.hosts.next()).answer(status, body);
    expect(await serving).toMatchObject({ ended: 'failed', attempts: 1 });
  });

  test('is never asked for a client that left meanwhile', async () => {
    const serving = served();
    const request = await fixture.hosts.next();
    sink.leave();
    request.fail('ECONNRESET');
    expect(await serving).toMatchObject({ httpStatus: 499, attempts: 1 });
    expect(hostsAsked()).toEqual(['alpha']);
  });
});

describe('the third host', () => {
  async function failAll(times: number): Promise<Served> {
    const serving = served();
    for (let at = 0; at < times; at++) (await fixture.hosts.next()).answer(500, ERROR);
    return serving;
  }

  test('is asked within the budget of retries, and no fourth', async () => {
    expect(await failAll(3)).toMatchObject({ attempts: 3, host: 'gamma', error: { code: 'host_failed' } });
    expect(hostsAsked()).toEqual(['alpha', 'beta', 'gamma']);
  });

  test('is not asked once the budget is spent', async () => {
    fixture = await GatewayFixture.open({ health: { consecutiveFailures: 1000 } });
    while (fixture.gateway.health.retries.spend());
    expect(await failAll(2)).toMatchObject({ attempts: 2, host: 'beta' });
  });

  test('is not asked if retries are turned off', async () => {
    fixture = await GatewayFixture.open({ health: { retryPercent: 0 } });
    expect(await failAll(2)).toMatchObject({ attempts: 2 });
  });
});

describe('when every host fails', () => {
  test('the caller hears of a rate limit only if every host is at its limit', async () => {
    const allLimited = served();
    for (let at = 0; at < 3; at++) (await fixture.hosts.next()).answer(429, ERROR);
    expect(await allLimited).toMatchObject({ error: { code: 'rate_limit_exceeded', status: 429 } });
  });

  test('one host at its limit behind one that is down counts as a failure', async () => {
    const mixed = served();
    (await fixture.hosts.next()).answer(500, ERROR);
    (await fixture.hosts.next()).answer(500, ERROR);
    (await fixture.hosts.next()).answer(429, ERROR);
    expect(await mixed).toMatchObject({ error: { code: 'host_failed' }, httpStatus: 502 });
  });

  test('a host at its limit behind others bills nothing, though the caller hears of a failure', async () => {
    const unreached = served();
    (await fixture.hosts.next()).fail('ECONNREFUSED');
    (await fixture.hosts.next()).answer(401, ERROR);
    (await fixture.hosts.next()).answer(429, ERROR);
    const outcome = await unreached;
    expect([outcome.error?.code, outcome.billableTries, mayHaveRun(outcome)]).toEqual(['host_failed', 0, false]);
  });

  test('attempts that a host may bill are counted, those that never connected are not', async () => {
    const serving = served();
    (await fixture.hosts.next()).fail('ECONNREFUSED');
    (await fixture.hosts.next()).answer(500, ERROR);
    (await fixture.hosts.next()).answer(500, ERROR);
    expect(await serving).toMatchObject({ attempts: 3, billableTries: 1 });
  });

  test('the names of failures are cut to their limit', async () => {
    const serving = served(ask());
    (await fixture.hosts.next()).fail('E'.repeat(1000));
    (await fixture.hosts.next()).answer(200, chatAnswer());
    expect((await serving).tries![0]!.outcome).toHaveLength(LIMITS.tryOutcomeCharsMax);
  });
});

describe('the health of hosts', () => {
  test('suffers from failures until the host is ejected, and the next call goes elsewhere', async () => {
    for (let at = 0; at < 3; at++) {
      const serving = served();
      (await fixture.hosts.next()).answer(500, ERROR);
      (await fixture.hosts.next()).answer(200, chatAnswer());
      await serving;
    }
    expect(stateOf('alpha')).toBe('ejected');
    const serving = served();
    const request = await fixture.hosts.next();
    expect(request.host).toBe('beta');
    request.answer(200, chatAnswer());
    await serving;
  });

  test('is passed by where a host was ejected after the call had chosen it', async () => {
    const admitted = admit();
    const serving = serve(fixture.gateway, admitted, sink, null);
    const first = await fixture.hosts.next();
    const { health } = admitted.hostCalls[1]!.candidate;
    for (let at = 0; at < 3; at++) health!.note(health!.enter(0), { kind: 'failed' }, 0, 1n, () => true);
    first.answer(500, ERROR);
    const second = await fixture.hosts.next();
    expect(second.host).toBe('gamma');
    second.answer(200, chatAnswer());
    await serving;
  });

  test('suffers if a host goes on counting more than the call could use', async () => {
    const serving = served();
    (await fixture.hosts.next()).answer(200, chatAnswer());
    const result = await serving;
    for (let at = 0; at < 3; at++) noteOverrun(fixture.gateway, admit(), result);
    expect(stateOf('alpha')).toBe('ejected');
  });
});
