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

test('the sixth failure within a minute is refused, and says when to try again', () => {
  const clock = new ManualClock(0);
  const attempts = new SignInAttempts(clock);
  for (let i = 0; i < 5; i++) {
    expect(begin(attempts, 'a@example.com', `client ${i}`)).toBe('begun');
    clock.advance(1000);
  }
  expect(begin(attempts, 'A@example.com', 'another')).toBe(WINDOW_MS - 5000);
  expect(begin(attempts, 'b@example.com', 'another')).toBe('begun');
  clock.advance(WINDOW_MS - 5000);
  expect(begin(attempts, 'a@example.com', 'another')).toBe('begun');
});

test('one client is limited whatever addresses it tries, and a success is not counted', () => {
  const attempts = new SignInAttempts(new ManualClock(0));
  for (let i = 0; i < 20; i++) attempts.begin(`${i}@example.com`, '192.0.2.1').forgive();
  for (let i = 0; i < 5; i++) expect(begin(attempts, `${i}@example.com`, '192.0.2.1')).toBe('begun');
  expect(begin(attempts, 'other@example.com', '192.0.2.1')).toBe(WINDOW_MS);
});

test('never lets more than five failures of one address or client into any minute', () => {
  const step = fc.record({
    email: fc.constantFrom('a', 'b', 'c'),
    client: fc.constantFrom('1', '2'),
    forgiven: fc.boolean(),
    laterMs: fc.integer({ min: 0, max: 20_000 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const clock = new ManualClock(0);
      const attempts = new SignInAttempts(clock);
      const failed: { readonly email: string; readonly client: string; readonly atMs: number }[] = [];
      for (const { email, client, forgiven, laterMs } of steps) {
        const atMs = clock.monotonicMs();
        try {
          const attempt = attempts.begin(email, client);
          if (forgiven) attempt.forgive();
          else failed.push({ email, client, atMs });
        } catch {
          const recent = failed.filter((each) => atMs - each.atMs < WINDOW_MS);
          const counts = [
            recent.filter((each) => each.email === email),
            recent.filter((each) => each.client === client),
          ];
          expect(Math.max(...counts.map((each) => each.length))).toBe(LIMITS.signInFailuresMax);
        }
        clock.advance(laterMs);
      }
      for (const { email, client, atMs } of failed) {
        const within = failed.filter((each) => each.atMs >= atMs && each.atMs < atMs + WINDOW_MS);
        expect(within.filter((each) => each.email === email).length).toBeLessThanOrEqual(LIMITS.signInFailuresMax);
        expect(within.filter((each) => each.client === client).length).toBeLessThanOrEqual(LIMITS.signInFailuresMax);
      }
    }),
  );
});
