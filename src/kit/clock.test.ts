import { MessageChannel } from 'node:worker_threads';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { handleTimerErrors, ManualClock, systemClock } from './clock.ts';

/** As if the whole process were paused. */
function pauseThreadMs(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('ManualClock', () => {
  it('does not move until it is advanced', () => {
    const clock = new ManualClock(1000);
    expect([clock.nowMs(), clock.monotonicMs()]).toEqual([1000, 0]);
    clock.advance(25);
    expect([clock.nowMs(), clock.monotonicMs()]).toEqual([1025, 25]);
  });

  it('runs timers in the order they are due, each at its own time', () => {
    const clock = new ManualClock(100);
    const ran: [string, number][] = [];
    const note = (name: string) => (): unknown => ran.push([name, clock.nowMs()]);
    clock.after(30, note('late'));
    clock.after(10, note('first'));
    clock.after(10, note('second'));
    clock.after(31, note('never'));
    clock.advance(30);
    expect(ran).toEqual([
      ['first', 110],
      ['second', 110],
      ['late', 130],
    ]);
    expect(clock.pendingTimers).toBe(1);
  });

  it('runs a timer set by another timer if it is due in time', () => {
    const clock = new ManualClock();
    const ran: number[] = [];
    clock.after(10, () => {
      clock.after(0, () => ran.push(clock.monotonicMs()));
      clock.after(5, () => ran.push(clock.monotonicMs()));
      clock.after(6, () => ran.push(clock.monotonicMs()));
    });
    clock.advance(15);
    expect(ran).toEqual([10, 15]);
  });

  it('does not run a cancelled timer', () => {
    const clock = new ManualClock();
    const run = vi.fn();
    const timer = clock.after(10, run);
    timer.cancel();
    timer.cancel();
    clock.advance(10);
    expect(run).not.toHaveBeenCalled();
  });

  it('sets the wall clock without moving the monotonic one', () => {
    const clock = new ManualClock(1000);
    const run = vi.fn();
    clock.after(10, run);
    clock.setNowMs(50);
    expect([clock.nowMs(), clock.monotonicMs()]).toEqual([50, 0]);
    clock.advance(10);
    expect(clock.nowMs()).toBe(60);
    expect(run).toHaveBeenCalledOnce();
  });

  it('throws if a timer keeps setting itself again without delay', () => {
    const clock = new ManualClock();
    const again = (): void => {
      clock.after(0, again);
    };
    again();
    expect(() => clock.advance(0)).toThrow('without delay');
  });
});

describe('systemClock', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('runs a timer once, unless it is cancelled', () => {
    vi.useFakeTimers();
    const run = vi.fn();
    const cancelled = vi.fn();
    systemClock.after(50, run);
    systemClock.after(50, cancelled).cancel();
    vi.advanceTimersByTime(49);
    expect(run).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1000);
    expect(run).toHaveBeenCalledOnce();
    expect(cancelled).not.toHaveBeenCalled();
  });

  it('waits longer than the longest timer of Node', () => {
    vi.useFakeTimers();
    const run = vi.fn();
    const cancelled = vi.fn();
    const longMs = 3 * 2 ** 31;
    systemClock.after(longMs, run);
    const timer = systemClock.after(longMs, cancelled);
    vi.advanceTimersByTime(longMs - 1);
    expect(run).not.toHaveBeenCalled();
    timer.cancel();
    vi.advanceTimersByTime(1000);
    expect(run).toHaveBeenCalledOnce();
    expect(cancelled).not.toHaveBeenCalled();
  });

  it('gives what a timer throws to the handlers, and throws it only if there is none', () => {
    vi.useFakeTimers();
    const errors: unknown[] = [];
    const stop = handleTimerErrors((error) => errors.push(error));
    const failure = new Error('EMFILE');
    const fail = (): void => {
      throw failure;
    };
    systemClock.after(10, fail);
    systemClock.after(3 * 2 ** 31, fail);
    vi.advanceTimersByTime(3 * 2 ** 31 + 1000);
    expect(errors).toEqual([failure, failure]);
    stop();
    systemClock.after(10, fail);
    expect(() => vi.advanceTimersByTime(1000)).toThrow('EMFILE');
    expect(errors).toHaveLength(2);
  });

  it('runs a timer that is late after what arrived meanwhile, which may cancel it', async () => {
    const { port1, port2 } = new MessageChannel();
    const late = vi.fn();
    const timer = systemClock.after(1, late);
    const arrived = new Promise<void>((resolve) => {
      port2.on('message', () => {
        timer.cancel();
        resolve();
      });
    });
    port1.postMessage('an answer');
    pauseThreadMs(20);
    await arrived;
    await new Promise<void>((resolve) => void systemClock.after(1, resolve));
    expect(late).not.toHaveBeenCalled();
    port1.close();
  });

  it('keeps the process alive only for timers that were not unreferenced', () => {
    const refs = (): number => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const before = refs();
    const loose = systemClock.after(60_000, () => {}, { unref: true });
    expect(refs()).toBe(before);
    const firm = systemClock.after(60_000, () => {});
    expect(refs()).toBe(before + 1);
    loose.cancel();
    firm.cancel();
  });

  it('tells the time', () => {
    expect(Math.abs(systemClock.nowMs() - Date.now())).toBeLessThan(60_000);
    expect(systemClock.monotonicMs()).toBeLessThanOrEqual(systemClock.monotonicMs());
  });
});
