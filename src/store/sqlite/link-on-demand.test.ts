import { expect, test } from 'vitest';
import { ManualClock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { StoreUnavailable } from '../store.ts';
import type { Link } from './link.ts';
import { LinkOnDemand } from './link-on-demand.ts';

type Verbs = { add(a: number, b: number): number };

/** Counts what is opened and ended. Calls wait until they are answered, if `answers` holds them back. */
function countedLinks() {
  const clock = new ManualClock();
  const seen = { opened: 0, ended: 0 };
  const answers: (() => void)[] = [];
  const state = { isHeldBack: false, broken: null as StoreUnavailable | null };
  const open = (): Link<Verbs> => {
    seen.opened += 1;
    return {
      get broken() {
        return state.broken;
      },
      call: (async (_verb: 'add', a: number, b: number) => {
        if (state.isHeldBack) await new Promise<void>((resolve) => answers.push(resolve));
        return a + b;
      }) as Link<Verbs>['call'],
      end: async () => {
        seen.ended += 1;
      },
    };
  };
  return { clock, seen, state, answers, link: new LinkOnDemand<Verbs>(open, clock) };
}

const LOOK_MS = LIMITS.storeScannerIdleMs;

test('a link is opened by its first call, and by the first one after it was ended', async () => {
  const { clock, seen, link } = countedLinks();
  expect(seen).toEqual({ opened: 0, ended: 0 });
  expect(await link.call('add', 1, 2)).toBe(3);
  clock.advance(2 * LOOK_MS);
  expect(seen).toEqual({ opened: 1, ended: 1 });
  expect(await link.call('add', 2, 3)).toBe(5);
  expect(seen).toEqual({ opened: 2, ended: 1 });
  await link.end();
  expect(seen).toEqual({ opened: 2, ended: 2 });
});

test('a link that is called again and again stays open', async () => {
  const { clock, seen, link } = countedLinks();
  for (let call = 0; call < 10; call++) {
    await link.call('add', call, 1);
    clock.advance(LOOK_MS);
  }
  expect(seen).toEqual({ opened: 1, ended: 0 });
});

test('a link stays open during a call that takes long', async () => {
  const { clock, seen, state, answers, link } = countedLinks();
  state.isHeldBack = true;
  const sum = link.call('add', 1, 1);
  clock.advance(10 * LOOK_MS);
  expect(seen).toEqual({ opened: 1, ended: 0 });
  for (const answer of answers) answer();
  expect(await sum).toBe(2);
  clock.advance(2 * LOOK_MS);
  expect(seen).toEqual({ opened: 1, ended: 1 });
});

test('a broken link is not replaced by a new one', async () => {
  const { clock, seen, state, link } = countedLinks();
  await link.call('add', 1, 1);
  state.broken = new StoreUnavailable('The scanner thread ended.');
  clock.advance(10 * LOOK_MS);
  expect(link.broken?.message).toBe('The scanner thread ended.');
  expect(seen).toEqual({ opened: 1, ended: 0 });
});

test('ending a link that was never called opens nothing', async () => {
  const { seen, link } = countedLinks();
  await link.end();
  expect(seen).toEqual({ opened: 0, ended: 0 });
});
