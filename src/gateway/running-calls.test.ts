import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RunningCalls } from './running-calls.ts';

describe('RunningCalls', () => {
  it('notifies exactly the listeners that were not removed, in any order', () => {
    const turns = fc.array(fc.oneof(fc.constant('add' as const), fc.nat(20)), { maxLength: 60 });
    fc.assert(
      fc.property(turns, (steps) => {
        const runningCalls = new RunningCalls();
        const forget: (() => void)[] = [];
        const expected = new Set<number>();
        const told: number[] = [];
        for (const step of steps) {
          if (step === 'add') {
            const own = forget.length;
            expected.add(own);
            forget.push(runningCalls.onCutOff(() => told.push(own)));
          } else {
            // Removing a listener twice must do nothing.
            forget[step]?.();
            expected.delete(step);
          }
        }
        runningCalls.cutOff();
        expect(told.toSorted((left, right) => left - right)).toEqual([...expected]);
      }),
    );
  });

  it('lets listeners remove themselves while they are notified', () => {
    const runningCalls = new RunningCalls();
    const told: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      const forget = runningCalls.onCutOff(() => {
        told.push(name);
        forget();
      });
    }
    runningCalls.cutOff();
    expect(told).toEqual(['a', 'b', 'c']);
  });

  it('notifies a late listener immediately', () => {
    const runningCalls = new RunningCalls();
    runningCalls.cutOff();
    let told = 0;
    const forget = runningCalls.onCutOff(() => told++);
    forget();
    expect(told).toBe(1);
  });
});
