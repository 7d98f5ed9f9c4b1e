import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { Directory } from '../store/directory.ts';
import {
  endedSessionCookie,
  findSession,
  newSessionSecret,
  readCookie,
  SESSION_COOKIE,
  sessionCookie,
} from './sessions.ts';

test('a session has 256 random bits, and its cookie is for this host, https and our own pages', () => {
  const { secret } = newSessionSecret();
  expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
  expect(newSessionSecret().secret).not.toBe(secret);
  expect(sessionCookie(secret)).toBe(
    `__Host-tollgate=${secret}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=604800`,
  );
  expect(endedSessionCookie()).toContain('Max-Age=0');
});

test.each([
  [`${SESSION_COOKIE}=abc`, 'abc'],
  [`a=b; ${SESSION_COOKIE}=abc; c=d`, 'abc'],
  [`${SESSION_COOKIE}=abc; ${SESSION_COOKIE}=def`, null],
  [`x${SESSION_COOKIE}=abc`, null],
  ['__host-tollgate=abc', null],
  ['', null],
  [undefined, null],
])('%s has the cookie %s', (header, value) => {
  expect(readCookie(header, SESSION_COOKIE)).toBe(value);
});

test('any text is read as cookies without failing', () => {
  fc.assert(fc.property(fc.string(), (header) => void readCookie(header, SESSION_COOKIE)));
});

test('asking again for a session does not prolong it', async () => {
  const clock = new ManualClock(1_000_000_000);
  const session = { id: 1n, expiresMs: clock.nowMs() + LIMITS.sessionMs, usedMs: clock.nowMs() };
  const touched: number[] = [];
  const directory = {
    findSession: async () => ({ session, person: { disabledMs: null } }),
    touchSession: async (_: bigint, usedMs: number) => void touched.push(usedMs),
  } as unknown as Directory;
  const cookie = `${SESSION_COOKIE}=${newSessionSecret().secret}`;
  clock.advance(LIMITS.sessionUseMs);
  expect(await findSession(cookie, { directory, clock }, false)).not.toBeNull();
  expect(touched).toEqual([]);
  expect(await findSession(cookie, { directory, clock })).not.toBeNull();
  expect(touched).toEqual([clock.nowMs()]);
  clock.advance(LIMITS.sessionIdleMs);
  expect(await findSession(cookie, { directory, clock }, false)).toBeNull();
});
