import fc from 'fast-check';
import { expect, test } from 'vitest';
import { endedSessionCookie, newSessionSecret, readCookie, SESSION_COOKIE, sessionCookie } from './sessions.ts';

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
