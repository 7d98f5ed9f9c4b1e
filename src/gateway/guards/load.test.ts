import { beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { type LoadLimits, type LoadReason, LoadWatch, overloaded } from './load.ts';

const LIMIT: LoadLimits = {
  eventLoopLagMs: 500,
  heapShare: 0.9,
  residentBytes: 1000,
  callsUnderWay: 10,
  ledgerDepth: 100,
};
const NONE: LoadLimits = {
  eventLoopLagMs: null,
  heapShare: null,
  residentBytes: null,
  callsUnderWay: null,
  ledgerDepth: null,
};

let clock: ManualClock;
let reported: (LoadReason | null)[];
let measurements: string[];
const now = { lagMs: 0, heapShare: 0, residentBytes: 0, calls: 0, depth: 0 };

function watch(limits: LoadLimits = LIMIT): LoadWatch {
  return new LoadWatch({
    gauges: {
      eventLoopLagMs: () => now.lagMs,
      heapShare: () => measured('heap', now.heapShare),
      residentBytes: () => measured('memory', now.residentBytes),
      callsUnderWay: () => now.calls,
      ledgerDepth: () => now.depth,
    },
    limits,
    clock,
    onChange: (reason) => reported.push(reason),
    relieve: () => measurements.push('relieved'),
  });
}

function measured(what: string, value: number): number {
  measurements.push(what);
  return value;
}

function look(): void {
  clock.advance(LIMITS.loadSampleMs);
}

beforeEach(() => {
  clock = new ManualClock();
  reported = [];
  measurements = [];
  Object.assign(now, { lagMs: 0, heapShare: 0, residentBytes: 0, calls: 0, depth: 0 });
});

describe('calls are refused', () => {
  test('while the event loop stays late, but not for a single pause', () => {
    const load = watch();
    now.lagMs = 501;
    look();
    expect([load.reason(), load.lagMs]).toEqual([null, 501]);
    now.lagMs = 0;
    look();
    now.lagMs = 501;
    look();
    expect(load.reason()).toBeNull();
    look();
    expect(load.reason()).toBe('event_loop');
    now.lagMs = 500;
    look();
    expect(load.reason()).toBeNull();
    expect(reported).toEqual(['event_loop', null]);
  });

  test('while the heap or the memory of the process is above its limit', () => {
    const load = watch();
    now.heapShare = 0.91;
    look();
    expect(load.reason()).toBe('heap');
    now.heapShare = 0.9;
    now.residentBytes = 1001;
    look();
    expect(load.reason()).toBe('memory');
    now.residentBytes = 1000;
    look();
    expect(load.reason()).toBeNull();
    expect(reported).toEqual(['heap', 'memory', null]);
  });

  test('while too many calls run or wait for the ledger, without waiting for a measurement', () => {
    const load = watch();
    now.calls = 11;
    expect(load.reason()).toBe('calls');
    now.calls = 10;
    now.depth = 101;
    expect(load.reason()).toBe('ledger');
    now.depth = 100;
    expect(load.reason()).toBeNull();
  });

  test('for no measurement without a limit', () => {
    const load = watch(NONE);
    Object.assign(now, { lagMs: 1e9, heapShare: 1, residentBytes: 1e15, calls: 1e9, depth: 1e9 });
    look();
    look();
    expect(load.reason()).toBeNull();
    expect(reported).toEqual([]);
  });
});

test('the memory is measured only if it has a limit', () => {
  watch(NONE);
  look();
  expect(measurements).toEqual([]);
  watch();
  look();
  expect(measurements).toEqual(['heap', 'memory']);
});

test('every measurement that finds memory short has some given back', () => {
  watch();
  now.heapShare = 0.95;
  clock.advance(2 * LIMITS.loadSampleMs);
  now.heapShare = 0.5;
  clock.advance(LIMITS.loadSampleMs);
  now.lagMs = 600;
  clock.advance(2 * LIMITS.loadSampleMs);
  expect(measurements.filter((what) => what === 'relieved')).toHaveLength(2);
});

test('a stopped watch sets no more timers', () => {
  const load = watch();
  look();
  load.stop();
  expect(clock.pendingTimers).toBe(0);
});

test('the refusal says that nothing was charged, and when to retry', () => {
  expect(overloaded()).toMatchObject({ status: 503, code: 'overloaded', type: 'upstream_error', retryAfterS: 1 });
  expect(overloaded().mustNotRetry).toBe(false);
});
