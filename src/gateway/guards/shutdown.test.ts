import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Shutdown } from './shutdown.ts';

describe('Shutdown', () => {
  it('notifies exactly the listeners that were not removed, in any order', () => {
    const turns = fc.array(fc.oneof(fc.constant('add' as const), fc.nat(20)), { maxLength: 60 });
    fc.assert(
      fc.property(turns, (steps) => {
        const shutdown = new Shutdown();
        const forget: (() => void)[] = [];
        const expected = new Set<number>();
        const told: number[] = [];
        for (const step of steps) {
          if (step === 'add') {
            const own = forget.length;
            expected.add(own);
            forget.push(shutdown.onDue(() => told.push(own)));
          } else {
            // Removing a listener twice must do nothing.
            forget[step]?.();
            expected.delete(step);
          }
        }
        shutdown.cutShort();
        expect(told.toSorted((left, right) => left - right)).toEqual([...expected]);
      }),
    );
  });

  it('lets listeners remove themselves while they are notified', () => {
    const shutdown = new Shutdown();
    const told: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      const forget = shutdown.onDue(() => {
        told.push(name);
        forget();
      });
    }
    shutdown.cutShort();
    expect(told).toEqual(['a', 'b', 'c']);
  });

  it('notifies a late listener immediately', () => {
    const shutdown = new Shutdown();
    shutdown.cutShort();
    let told = 0;
    const forget = shutdown.onDue(() => told++);
    forget();
    expect(told).toBe(1);
  });
});
