import type { Running } from '../src/main/start.ts';

/** A step of the ledger that is done, but whose answer is held back until the test releases it. */
export interface LedgerGate {
  reached(): boolean;
  letGo(): void;
}

export function holdUp({ books }: Running, verb: 'hold' | 'settle'): LedgerGate {
  const { ledger } = books;
  const step = ledger[verb].bind(ledger) as (...args: unknown[]) => Promise<unknown>;
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  let reached = false;
  Object.assign(ledger, {
    [verb]: async (...args: unknown[]) => {
      const result = await step(...args);
      reached = true;
      await gate;
      return result;
    },
  });
  return {
    reached: () => reached,
    letGo: () => {
      Reflect.deleteProperty(ledger, verb);
      open();
    },
  };
}
