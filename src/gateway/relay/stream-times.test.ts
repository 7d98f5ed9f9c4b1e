import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../kit/clock.ts';
import { StreamTimes } from './stream-times.ts';

const LIMITS = { firstFrameMs: 120, idleMs: 60, streamMs: 1_000, keepAliveMs: 15 };

function watched(limits = LIMITS) {
  const clock = new ManualClock();
  const told: string[] = [];
  const times: StreamTimes = new StreamTimes(clock, limits, {
    hostSilent: (limitMs) => told.push(`${clock.monotonicMs()}: host silent for ${limitMs}`),
    clientIdle: () => told.push(`${clock.monotonicMs()}: client unfed`),
    ranTooLong: () => {
      told.push(`${clock.monotonicMs()}: too long`);
      times.stop();
    },
  });
  return { clock, told, times };
}

describe('a stream', () => {
  test('has one timer, and none after its end', () => {
    const { clock, times } = watched();
    times.clientWritten();
    times.contentBegan();
    expect(clock.pendingTimers).toBe(1);
    clock.advance(100);
    expect(clock.pendingTimers).toBe(1);
    times.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  test('that stays silent is reported at the limit for the first frame, and again after the same time', () => {
    const { clock, told } = watched();
    clock.advance(119);
    expect(told).toEqual([]);
    clock.advance(121);
    expect(told).toEqual(['120: host silent for 120', '240: host silent for 120']);
  });

  test('that has started is reported at the idle limit after its last read', () => {
    const { clock, told, times } = watched();
    clock.advance(47);
    times.hostSpoke();
    times.contentBegan();
    clock.advance(59);
    times.hostSpoke();
    clock.advance(59);
    expect(told).toEqual([]);
    clock.advance(1);
    expect(told).toEqual(['166: host silent for 60']);
  });

  test('sends keep-alives only to a client that was sent something and is still there', () => {
    const { clock, told, times } = watched();
    clock.advance(40);
    times.clientWritten();
    clock.advance(14);
    times.clientWritten();
    clock.advance(31);
    expect(told).toEqual(['69: client unfed', '84: client unfed']);
    times.clientLost();
    clock.advance(20);
    expect(told).toHaveLength(2);
  });

  test('ends at its maximum duration, even while data arrives', () => {
    const { clock, told, times } = watched();
    for (let at = 0; at < 110; at++) {
      times.hostSpoke();
      clock.advance(10);
    }
    expect(told).toEqual(['1000: too long']);
    expect(clock.pendingTimers).toBe(0);
  });

  test('keeps a limit that is shorter than the time to the next check', () => {
    const { clock, told, times } = watched({ ...LIMITS, keepAliveMs: 500, idleMs: 30 });
    clock.advance(100);
    times.hostSpoke();
    times.contentBegan();
    clock.advance(30);
    expect(told).toEqual(['130: host silent for 30']);
  });
});
