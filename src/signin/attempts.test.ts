import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { SignInAttempts } from './attempts.ts';
import { SignInError } from './error.ts';

const WINDOW_MS = LIMITS.signInWindowMs;

function begin(attempts: SignInAttempts, email: string, client: string): 'begun' | number {
  try {
    attempts.begin(email, client);
    return 'begun';
  } catch (error) {
    if (!(error instanceof SignInError) || error.code !== 'rate_limit_exceeded') throw error;
    return error.retryMs!;
  }
}

test('the sixth failure of a client within a minute is refused, and says when to try again', () => {
  const clock = new ManualClock(0);
  const attempts = new SignInAttempts(clock);
  for (let i = 0; i < 5; i++) {
    expect(begin(attempts, 'a@example.com', '192.0.2.1')).toBe('begun');
    clock.advance(1000);
  }
  expect(begin(attempts, 'a@example.com', '192.0.2.1')).toBe(WINDOW_MS - 5000);
  expect(begin(attempts, 'A@example.com', 'another')).toBe('begun');
  clock.advance(WINDOW_MS - 5000);
  expect(begin(attempts, 'a@example.com', '192.0.2.1')).toBe('begun');
});

test('one address is limited whoever tries it, but not for a client that has signed in with it before', () => {
  const clock = new ManualClock(0);
  const attempts = new SignInAttempts(clock);
  attempts.begin('A@example.com', 'at home').succeed();
  clock.advance(8 * 3_600_000);
  for (let i = 0; i < LIMITS.signInAddressFailuresMax; i++)
    expect(begin(attempts, 'a@example.com', `client ${i}`)).toBe('begun');
  expect(begin(attempts, 'A@example.com', 'another')).toBe(WINDOW_MS);
  expect(begin(attempts, 'b@example.com', 'another')).toBe('begun');
  for (let i = 0; i < 5; i++) expect(begin(attempts, 'a@example.com', 'at home')).toBe('begun');
  expect(begin(attempts, 'a@example.com', 'at home')).toBe(WINDOW_MS);
});

test('a failure does not make a client known to an address', () => {
  const attempts = new SignInAttempts(new ManualClock(0));
  for (let i = 0; i < LIMITS.signInAddressFailuresMax; i++) begin(attempts, 'a@example.com', `client ${i}`);
  expect(begin(attempts, 'a@example.com', 'client 0')).toBe(WINDOW_MS);
});

test('one client is limited whatever addresses it tries, and a success is not counted', () => {
  const attempts = new SignInAttempts(new ManualClock(0));
  for (let i = 0; i < 20; i++) attempts.begin(`${i}@example.com`, '192.0.2.1').succeed();
  for (let i = 0; i < 5; i++) expect(begin(attempts, `${i}@example.com`, '192.0.2.1')).toBe('begun');
  expect(begin(attempts, 'other@example.com', '192.0.2.1')).toBe(WINDOW_MS);
});

test('never lets more failures of one address or client into any minute than are allowed', () => {
  const step = fc.record({
    email: fc.constantFrom('a', 'b', 'c'),
    client: fc.integer({ min: 1, max: 30 }).map(String),
    forgiven: fc.boolean(),
    laterMs: fc.integer({ min: 0, max: 2_000 }),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 100, maxLength: 300 }), (steps) => {
      const clock = new ManualClock(0);
      const attempts = new SignInAttempts(clock);
      const failed: { readonly email: string; readonly client: string; readonly atMs: number }[] = [];
      for (const { email, client, forgiven, laterMs } of steps) {
        const atMs = clock.monotonicMs();
        const ofEmail = (each: { readonly email: string }) => each.email === email;
        const ofClient = (each: { readonly client: string }) => each.client === client;
        const isFull = (recent: typeof failed) =>
          recent.filter(ofEmail).length === LIMITS.signInAddressFailuresMax ||
          recent.filter(ofClient).length === LIMITS.signInFailuresMax;
        const recent = failed.filter((each) => atMs - each.atMs < WINDOW_MS);
        try {
          const attempt = attempts.begin(email, client);
          expect(isFull(recent)).toBe(false);
          if (forgiven) attempt.forgive();
          else failed.push({ email, client, atMs });
        } catch (error) {
          if (!(error instanceof SignInError)) throw error;
          expect(isFull(recent)).toBe(true);
        }
        clock.advance(laterMs);
      }
    }),
    { numRuns: 50 },
  );
});
