import { type Fetch, globalFetch } from './fetch.ts';
import { type Observed, observe } from './observe.ts';
import { type Receipt, sumOf } from './receipt.ts';
import { lookupFor, readReceipt } from './receipt-lookup.ts';
import { type Wait, waitFor } from './retry.ts';

export interface MeteredFetchOptions {
  /** The `fetch` that sends; the platform's by default. */
  readonly fetch?: Fetch | undefined;
  readonly onReceipt?: ((receipt: Receipt) => void) | undefined;
  readonly wait?: Wait | undefined;
}

export interface Meter {
  /** Give it to any SDK that takes a `fetch`. */
  readonly fetch: Fetch;
  /** One per call, in the order in which they arrived; the array grows. */
  readonly receipts: readonly Receipt[];
  /** The sum of the settled receipts, in nanodollars. */
  total(): bigint;
  /** Asks for the receipts that are pending, such as those of streams that were left. True if none is pending any more. */
  settled(): Promise<boolean>;
}

const ASKS_MAX = 6;
const ASK_AGAIN_MS = 100;

/** A `fetch` that collects the receipt of every call to the gateway. Calls elsewhere pass through. */
export function meteredFetch({ fetch = globalFetch, onReceipt, wait = waitFor }: MeteredFetchOptions = {}): Meter {
  const receipts: Receipt[] = [];
  const arriving = new Map<Promise<void>, Observed>();
  const pending = new Map<string, () => Promise<Receipt | null>>();
  const record = (receipt: Receipt): void => {
    const at = receipts.findIndex(({ requestId }) => requestId === receipt.requestId);
    // The stored response of a repeated request has the receipt of the first.
    if (at === -1) receipts.push(receipt);
    else if (receipts[at]!.state === 'pending') receipts[at] = receipt;
    else return;
    if (receipt.state === 'settled') pending.delete(receipt.requestId);
    onReceipt?.(receipt);
  };
  const metered: Fetch = async (input, init) => {
    const call = await observe(fetch, input, init);
    const arrival = call.receipt.then((one) => {
      if (one === null) return;
      const ask = () => readReceipt(lookupFor(fetch, input, init), one.requestId);
      if (one.state === 'pending') pending.set(one.requestId, ask);
      record(one);
    });
    arriving.set(arrival, call);
    void arrival.then(() => arriving.delete(arrival));
    return call.response;
  };
  const settled = async (): Promise<boolean> => {
    await Promise.all([...arriving].map(([arrival, call]) => (call.isOpen() ? null : arrival)));
    for (let asked = 0; pending.size > 0 && asked < ASKS_MAX; asked++) {
      if (asked > 0) await wait(ASK_AGAIN_MS * 2 ** asked);
      for (const ask of [...pending.values()]) {
        const receipt = await ask();
        if (receipt?.state === 'settled') record(receipt);
      }
    }
    return pending.size === 0;
  };
  return { fetch: metered, receipts, total: () => sumOf(receipts), settled };
}
