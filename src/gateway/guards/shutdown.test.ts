import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Shutdown } from './shutdown.ts';

describe('Shutdown', () => {
  it('tells exactly those that were not forgotten, whatever the order', () => {
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
            // Also one that was forgotten before: that must do nothing.
            forget[step]?.();
            expected.delete(step);
          }
        }
        shutdown.cutShort();
        expect(told.toSorted((left, right) => left - right)).toEqual([...expected]);
      }),
    );
  });

  it('lets those who are told forget themselves on the way', () => {
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

  it('tells at once who comes too late', () => {
    const shutdown = new Shutdown();
    shutdown.cutShort();
    let told = 0;
    const forget = shutdown.onDue(() => told++);
    forget();
    expect(told).toBe(1);
  });
});
