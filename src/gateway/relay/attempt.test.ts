import { beforeAll, describe, expect, test } from 'vitest';
import { prepareAttempt } from '../../../test/attempt-fixture.ts';
import { ask, HOST_KEY } from '../../../test/gateway-fixture.ts';
import type { RequestControl } from '../../hosts/directory.ts';
import { ManualClock } from '../../kit/clock.ts';
import type { HostError } from '../../wires/wire.ts';
import { type AttemptTerms, connectionFault, isEncoded, readHostFailure, retryAfterMsOf } from './attempt.ts';

const CONTROL: RequestControl = { pause: () => {}, resume: () => {}, cancel: () => {} };

let terms: AttemptTerms;

beforeAll(async () => {
  ({ terms } = await prepareAttempt(ask()));
});

const SAID: HostError = { kind: 'unavailable', status: 500, message: 'secret words', code: null, param: null };

function failureOf(said: Partial<HostError>, contentLeft = false) {
  return readHostFailure({ ...SAID, ...said }, terms, 700, contentLeft);
}

describe("a host's error", () => {
  test.each<[string, Partial<HostError>, string, boolean, object]>([
    ['an outage', {}, 'host_failed', true, { kind: 'failed' }],
    ['overload', { status: 503 }, 'overloaded', true, { kind: 'failed' }],
    ['a vendor’s own overload', { status: 529 }, 'overloaded', true, { kind: 'failed' }],
    [
      'a rate limit',
      { kind: 'rate', status: 429 },
      'rate_limit_exceeded',
      true,
      { kind: 'limited', retryAfterMs: 700 },
    ],
    ['a quota told with another status', { kind: 'rate', status: 400 }, 'rate_limit_exceeded', true, { kind: 'well' }],
    [
      'our key refused',
      { kind: 'credentials', status: 401 },
      'host_failed',
      true,
      { kind: 'key_refused', status: 401 },
    ],
    ['our key refused in words', { kind: 'credentials', status: 400 }, 'host_failed', true, { kind: 'refused' }],
    [
      'one request refused',
      { kind: 'credentials', status: 403 },
      'host_failed',
      true,
      { kind: 'refused', status: 403 },
    ],
    ['a model it lost', { kind: 'credentials', status: 404 }, 'host_failed', true, { kind: 'model_unknown' }],
    ['a bad request', { kind: 'request', status: 400 }, 'host_refused_request', false, { kind: 'well' }],
    ['a long prompt', { kind: 'over_window', status: 400 }, 'host_context_length_exceeded', false, { kind: 'well' }],
  ])('%s', (_, said, kind, retryable, sign) => {
    const { error, fault } = failureOf(said);
    expect([error.kind, fault.retryable]).toEqual([kind, retryable]);
    expect(fault.sign).toMatchObject(sign);
  });

  test.each<[HostError['kind'], boolean]>([
    ['request', true],
    ['over_window', true],
    ['rate', false],
    ['credentials', false],
    ['unavailable', false],
  ])('of kind %s reaches the caller in the host’s words: %s', (kind, own) => {
    expect(failureOf({ kind }).error.message.includes('secret words')).toBe(own);
  });

  test('about the request has the host’s own code, or ours if the host gave none', () => {
    expect(failureOf({ kind: 'request', code: 'bad_colour' }).error.code).toBe('bad_colour');
    expect(failureOf({ kind: 'request', code: null }).error.code).toBe('host_refused_request');
  });

  test('without words about a prompt over the window has words of ours', () => {
    const { message } = failureOf({ kind: 'over_window', status: 400, message: '' }).error;
    expect(message).toMatch(/exceeds the maximum context length of \S+, \d+ tokens;.*Shorten the prompt/);
  });

  test('never shows the caller our key, and the operator’s log neither', () => {
    const { error, fault } = failureOf({ kind: 'request', message: HOST_KEY, code: HOST_KEY, param: HOST_KEY });
    expect(JSON.stringify([error, error.message, fault])).not.toContain(HOST_KEY);
  });

  test('is named in the log by its kind, status and a code that is a plain word', () => {
    expect(failureOf({ code: 'server_error' }).fault.words).toBe('unavailable 500 server_error');
    expect(failureOf({ code: 'with the prompt: hello' }).fault.words).toBe('unavailable 500');
  });

  test('after content says that what had arrived is charged', () => {
    for (const said of [{}, { status: 503 }, { kind: 'rate' as const }])
      expect(failureOf(said, true).error.message).toContain('is charged');
    expect(failureOf({}, false).error.message).toContain('nothing was charged');
  });
});

describe('a connection', () => {
  test('that fails may be retried, and says so without our key', () => {
    const fault = connectionFault(new Error(`read ${HOST_KEY}`), terms, CONTROL);
    expect(fault).toMatchObject({ words: 'read [key]', retryable: true, sign: { kind: 'failed' } });
  });

  test('that was never made is told from one that broke', () => {
    const turnedAway = (control: RequestControl | null) => connectionFault(new Error('x'), terms, control).turnedAway;
    expect(turnedAway({ ...CONTROL, unreached: true })).toBe(true);
    expect(turnedAway(null)).toBe(true);
    expect(turnedAway(CONTROL)).toBe(false);
  });
});

test.each([
  [429, { 'retry-after': '3' }, 3000],
  [429, {}, null],
  [503, { 'retry-after': '3' }, null],
])('status %i with %j asks to be left alone for %s ms', (status, headers, ms) => {
  expect(retryAfterMsOf(status, headers, new ManualClock())).toBe(ms);
});

test.each([
  [{}, false],
  [{ 'content-encoding': 'identity' }, false],
  [{ 'content-encoding': 'gzip' }, true],
])('headers %j are of an encoded body: %s', (headers, encoded) => {
  expect(isEncoded(headers)).toBe(encoded);
});
