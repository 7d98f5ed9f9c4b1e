import { type Fetch, headersOf, urlOf } from './fetch.ts';
import { isObject, parseAmounts } from './json.ts';
import { type Receipt, receiptFromLedger } from './receipt.ts';

const CREDENTIALS = ['authorization', 'x-api-key', 'api-key'];
const ROUTE = /(?:\/openai|\/api)?\/v1\/.*$|\/openai\/deployments\/.*$|\/(?:chat\/)?[a-z]+\/?$/;

/** Where the receipt of a call can be read, and with which key. */
export interface Lookup {
  readonly fetch: Fetch;
  /** The gateway's address without `/v1`. */
  readonly root: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | null;
}

/** With the credentials of the call itself, so that whoever may call may also read what it cost. */
export function lookupFor(fetch: Fetch, input: string | URL | Request, init?: RequestInit): Lookup {
  const page = globalThis as object as { readonly location?: { readonly href: string } };
  const url = new URL(urlOf(input), page.location?.href);
  const sent = headersOf(input, init);
  const headers: Record<string, string> = {};
  for (const name of CREDENTIALS) {
    const value = sent.get(name);
    if (value !== null) headers[name] = value;
  }
  return { fetch, root: url.origin + url.pathname.replace(ROUTE, ''), headers };
}

/** Null if it cannot be read. */
export async function readReceipt(lookup: Lookup, requestId: string): Promise<Receipt | null> {
  const body = await get(lookup, `/v1/receipts/${encodeURIComponent(requestId)}`);
  return isObject(body) ? receiptFromLedger(body) : null;
}

/**
 * The receipt of a call whose response never came, found by its chain and idempotency key: null if the gateway has
 * none, undefined if it cannot be asked.
 */
export async function findReceipt(lookup: Lookup, chain: string, key: string): Promise<Receipt | null | undefined> {
  const [id] = chain.split(';');
  const body = await get(lookup, `/v1/receipts?chain=${id}`);
  if (!isObject(body) || !Array.isArray(body.data)) return undefined;
  const found = body.data.filter(isObject).find((one) => one.chain === chain && one.idempotency_key === key);
  return found === undefined ? null : receiptFromLedger(found);
}

async function get({ fetch, root, headers, signal = null }: Lookup, path: string): Promise<unknown> {
  try {
    const response = await fetch(root + path, { headers, signal });
    const text = await response.text();
    return response.ok ? parseAmounts(text) : undefined;
  } catch {
    return undefined;
  }
}
