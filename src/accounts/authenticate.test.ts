import { describe, expect, test } from 'vitest';
import { GatewayError } from '../canonical/errors.ts';
import { type KeyRow, StoreUnavailable } from '../store/store.ts';
import { authenticate as authenticateRequest, type Gate } from './authenticate.ts';
import { mintSecret } from './keys.ts';

const KEY = mintSecret().secret.reveal();
const OTHER = mintSecret().secret.reveal();
const UNKNOWN = mintSecret().secret.reveal();
const LOCAL = 99n;

function row(id: bigint, accountId: bigint): KeyRow {
  const cap = {
    capNanousd: null,
    capWindow: 'lifetime' as const,
    expiresMs: null,
    models: null,
    permissions: [],
    onUnsupported: 'refuse' as const,
  };
  const stored = { sha256Hex: '', prefix: '', lastFour: '', name: '', createdMs: 0, revokedMs: null, version: 1n };
  const person = {
    personId: null,
    disabledMs: null,
    personDisabledMs: null,
    replaced: null,
    usedMs: null,
    note: null,
    ownerTerms: {},
    maxCostNanousd: null,
  };
  return { id, accountId, ...cap, ...stored, ...person };
}

const ROWS = new Map([
  [KEY, row(1n, 10n)],
  [OTHER, row(2n, 20n)],
]);
const directory = { find: (secret: string) => ROWS.get(secret) ?? null };
const hosted: Gate = { directory, localAccountId: null, page: null };
const local: Gate = { directory, localAccountId: LOCAL, page: null };

function authenticate(rawHeaders: readonly string[], gate: Gate) {
  const headers = Object.fromEntries(
    rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), rawHeaders[at + 1]!]] : [])),
  );
  return authenticateRequest({ method: 'POST', headers, rawHeaders }, gate);
}

describe('hosted mode accepts', () => {
  test.each<[string, string[]]>([
    ['Bearer', ['Authorization', `Bearer ${KEY}`]],
    ['bearer in any spelling', ['AUTHORIZATION', `bEARER   ${KEY}`]],
    ['x-api-key', ['x-api-key', KEY]],
    ['api-key', ['Api-Key', KEY]],
    ['the same key in all three', ['authorization', `Bearer ${KEY}`, 'x-api-key', KEY, 'api-key', KEY]],
    ['among other headers', ['host', 'x', 'x-api-key', KEY, 'content-type', 'application/json']],
  ])('%s', async (_, headers) => {
    expect(await authenticate(headers, hosted)).toMatchObject({ accountId: 10n, keyId: 1n, key: { id: 1n } });
  });
});

describe('hosted mode answers the same 401 to', () => {
  test.each<[string, string[]]>([
    ['nothing', []],
    ['no credential', ['host', 'x']],
    ['an unknown key', ['x-api-key', UNKNOWN]],
    ['a key of another service', ['authorization', 'Bearer sk-other']],
    ['another scheme', ['authorization', `Basic ${KEY}`]],
    ['no scheme', ['authorization', KEY]],
    ['an empty bearer', ['authorization', 'Bearer ']],
    ['two words', ['authorization', `Bearer ${KEY} ${KEY}`]],
    ['two different keys', ['authorization', `Bearer ${KEY}`, 'x-api-key', OTHER]],
    ['a good key beside a malformed one', ['authorization', 'Basic abc', 'x-api-key', KEY]],
    ['a good key beside an empty one', ['authorization', `Bearer ${KEY}`, 'x-api-key', '']],
    ['the same header twice', ['x-api-key', KEY, 'X-Api-Key', KEY]],
    ['authorization twice', ['authorization', `Bearer ${KEY}`, 'authorization', `Bearer ${KEY}`]],
    ['keys joined by a proxy', ['x-api-key', `${KEY}, ${KEY}`]],
  ])('%s', async (_, headers) => {
    const answer = await authenticate(headers, hosted);
    expect(answer).toBeInstanceOf(GatewayError);
    expect(answer).toMatchObject({ status: 401, type: 'invalid_request_error', code: 'invalid_api_key', param: null });
    expect((answer as GatewayError).message).toBe((authenticate([], hosted) as GatewayError).message);
    expect(JSON.stringify(answer) + (answer as GatewayError).message).not.toContain(KEY);
  });

  test('a wrong key, in the words by which a client library tells it from a bad request', () => {
    expect((authenticate([], hosted) as GatewayError).message).toContain('Incorrect API key provided');
  });
});

describe('local mode', () => {
  test.each<[string, string[]]>([
    ['no key', []],
    ['a key of another service', ['authorization', 'Bearer sk-other']],
    ['another scheme', ['authorization', 'Basic abc']],
  ])('%s is the local account', async (_, headers) => {
    expect(await authenticate(headers, local)).toEqual({ accountId: LOCAL, keyId: null, key: null });
  });

  test('a valid gateway key is used, even beside a key of another service', async () => {
    expect(await authenticate(['x-api-key', KEY], local)).toMatchObject({ accountId: 10n, keyId: 1n });
    const both = ['authorization', 'Bearer sk-other', 'x-api-key', KEY];
    expect(await authenticate(both, local)).toMatchObject({ accountId: 10n });
  });

  test.each<[string, string[]]>([
    ['an unknown or revoked gateway key', ['x-api-key', UNKNOWN]],
    ['a truncated gateway key', ['authorization', `Bearer ${KEY.slice(0, -3)}`]],
    ['a mistyped gateway key', ['authorization', `Bearer ${KEY.slice(0, -1)}_`]],
    ['a bare prefix', ['x-api-key', 'tg_']],
    [
      'an unknown gateway key beside a key of another service',
      ['authorization', 'Bearer sk-other', 'x-api-key', UNKNOWN],
    ],
  ])('%s is refused, not served on the unlimited local account', async (_, headers) => {
    expect(await authenticate(headers, local)).toMatchObject({ status: 401, code: 'invalid_api_key' });
  });

  test('two different gateway keys are refused, because it is unclear who pays', async () => {
    const both = ['authorization', `Bearer ${OTHER}`, 'x-api-key', KEY];
    expect(await authenticate(both, local)).toBeInstanceOf(GatewayError);
  });
});

test.each(['disabledMs', 'personDisabledMs'])('a key with %s is refused with a message of its own', async (member) => {
  const off = { find: () => ({ ...row(1n, 10n), [member]: 5 }) };
  for (const localAccountId of [null, LOCAL]) {
    const answer = await authenticate(['x-api-key', KEY], { directory: off, localAccountId, page: null });
    expect(answer).toMatchObject({ status: 401, code: 'invalid_api_key' });
    expect((answer as GatewayError).message).toMatch(/^Incorrect API key provided: it is disabled\./);
  }
});

test('a cached key is found without a promise', () => {
  expect(authenticate(['x-api-key', KEY], hosted)).toMatchObject({ keyId: 1n });
});

test('a store that does not answer is not reported as a wrong key', async () => {
  const broken = { find: () => Promise.reject(new StoreUnavailable('gone')) };
  const asked = authenticate(['x-api-key', KEY], { directory: broken, localAccountId: LOCAL, page: null });
  await expect(asked).rejects.toThrow(StoreUnavailable);
});

test('a call with a key reads no other header', () => {
  const headers = new Proxy({} as Record<string, string>, {
    get: () => {
      throw new Error('read');
    },
  });
  const request = { method: 'POST', headers, rawHeaders: ['x-api-key', KEY, 'x-gateway-key', 'key_1'] };
  for (const gate of [hosted, local]) expect(authenticateRequest(request, gate)).toMatchObject({ keyId: 1n });
});
