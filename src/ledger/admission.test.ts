import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { Admission } from './admission.ts';

describe('admission', () => {
  let clock: ManualClock;
  let tests: number;
  let testHold: () => Promise<void>;
  let admission: Admission;

  beforeEach(() => {
    clock = new ManualClock();
    tests = 0;
    testHold = async () => undefined;
    admission = new Admission(clock, () => {
      tests += 1;
      return testHold();
    });
  });

  it('believes a hold that succeeded just now, without a test hold', async () => {
    admission.succeeded();
    clock.advance(LIMITS.admissionFreshMs - 1);
    expect([await admission.whyFailing(), tests]).toEqual([null, 0]);
  });

  it('fails with the reason of the last hold until one succeeds', async () => {
    admission.succeeded();
    admission.failed('too many connections');
    expect(await admission.whyFailing()).toBe('too many connections');
    admission.succeeded();
    expect(await admission.whyFailing()).toBeNull();
  });

  it('asks with a test hold when the last hold is too old, after a failure and after a success', async () => {
    admission.failed('too many connections');
    clock.advance(LIMITS.admissionFreshMs);
    expect([await admission.whyFailing(), tests]).toEqual([null, 1]);
    testHold = () => Promise.reject(new Error('fenced'));
    clock.advance(LIMITS.admissionFreshMs);
    expect([await admission.whyFailing(), tests]).toEqual(['fenced', 2]);
  });

  it('asks before the first hold', async () => {
    testHold = () => Promise.reject(new Error('fenced'));
    expect(await admission.whyFailing()).toBe('fenced');
  });

  it('fails within two seconds if the store hangs, sends it no second test hold, and recovers when it replies', async () => {
    let reply = (): void => undefined;
    testHold = () => new Promise((resolve) => (reply = resolve));
    const first = admission.whyFailing();
    clock.advance(LIMITS.admissionProbeMs);
    expect(await first).toMatch(/did not reply/);
    clock.advance(LIMITS.admissionFreshMs);
    const second = admission.whyFailing();
    reply();
    expect([await second, tests, clock.pendingTimers]).toEqual([null, 1, 0]);
    expect(LIMITS.admissionFreshMs + LIMITS.admissionProbeMs).toBeLessThanOrEqual(2_000);
  });
});
