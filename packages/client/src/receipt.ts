import { isObject, type JsonObject, textOf } from './json.ts';

/** Nanodollars; the four sum exactly to the cost. */
export interface CostComponents {
  readonly fresh: bigint;
  readonly cacheWrite: bigint;
  readonly cacheRead: bigint;
  readonly output: bigint;
}

/** Tokens as they were billed; the output includes reasoning. */
export interface ReceiptUsage {
  readonly freshTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
}

interface AnyReceipt {
  readonly requestId: string;
  /** The model asked for; in a chain that of the first member. Null if the call was refused before its body was read. */
  readonly requestedModel: string | null;
  /** The model that was called; null if the call was refused before it was known. */
  readonly effectiveModel: string | null;
  /** Null if unknown. */
  readonly components: CostComponents | null;
  /** Null if the receipt came with the headers of a response; the body has the usage then. */
  readonly usage: ReceiptUsage | null;
  /** Null unless the receipt was read from the gateway's ledger. */
  readonly priceVersion: string | null;
}

export interface SettledReceipt extends AnyReceipt {
  readonly state: 'settled';
  readonly costNanousd: bigint;
}

/** The call runs, or its receipt could not be read: the cost is unknown, which must not read as free. */
export interface PendingReceipt extends AnyReceipt {
  readonly state: 'pending';
  readonly costNanousd: null;
  /** The most that the call can cost; null if unknown. */
  readonly heldNanousd: bigint | null;
}

export type Receipt = SettledReceipt | PendingReceipt;

/** The identity of a call, as every response has it; null if the response is not the gateway's. */
export function identityOf(headers: Headers): PendingReceipt | null {
  const requestId = headers.get('x-gateway-request-id');
  if (requestId === null) return null;
  return withJson({
    requestId,
    requestedModel: headers.get('x-gateway-requested-model'),
    effectiveModel: headers.get('x-gateway-effective-model'),
    components: null,
    usage: null,
    priceVersion: null,
    state: 'pending',
    costNanousd: null,
    heldNanousd: null,
  });
}

/** The receipt in the headers of a whole response; null if they have no cost. */
export function receiptFromHeaders(headers: Headers): SettledReceipt | null {
  const identity = identityOf(headers);
  const costNanousd = amountIn(headers, 'x-gateway-cost-nanousd');
  if (identity === null || costNanousd === null) return null;
  return settle(identity, {
    costNanousd,
    components: componentsFromHeader(headers.get('x-gateway-cost-components-nanousd')),
  });
}

/** Null if the header is missing or has something else. */
export function amountIn(headers: Headers, name: string): bigint | null {
  const value = headers.get(name) ?? '';
  return /^\d+$/.test(value) ? BigInt(value) : null;
}

function componentsFromHeader(value: string | null): CostComponents | null {
  const match = /^fresh=(\d+),cache_write=(\d+),cache_read=(\d+),output=(\d+)$/.exec(value ?? '');
  if (match === null) return null;
  const [fresh, cacheWrite, cacheRead, output] = match.slice(1).map(BigInt) as [bigint, bigint, bigint, bigint];
  return { fresh, cacheWrite, cacheRead, output };
}

/** The receipt in the last event of a messages stream; null if it is not one. */
export function receiptFromEvent(identity: PendingReceipt, event: JsonObject): SettledReceipt | null {
  if (event.type !== 'gateway_receipt' || typeof event.cost_nanousd !== 'number') return null;
  const usage = isObject(event.usage) ? event.usage : null;
  return settle(identity, {
    costNanousd: BigInt(event.cost_nanousd),
    components: readComponents(event.components),
    usage: usage && {
      freshTokens: count(usage.input_tokens),
      cacheReadTokens: count(usage.cache_read_input_tokens),
      cacheWriteTokens: count(usage.cache_creation_input_tokens),
      outputTokens: count(usage.output_tokens),
    },
  });
}

/** A receipt of `GET /v1/receipts/{id}`, parsed with exact amounts. */
export function receiptFromLedger(body: JsonObject): Receipt {
  const usage = isObject(body.usage) ? body.usage : null;
  const known = {
    requestId: String(body.id),
    requestedModel: textOf(body.requested_model),
    effectiveModel: textOf(body.effective_model),
    components: readComponents(body.components),
    usage: usage && {
      freshTokens: count(usage.fresh_tokens),
      cacheReadTokens: count(usage.cache_read_tokens),
      cacheWriteTokens: count(usage.cache_write_tokens) + count(usage.cache_write_1h_tokens),
      outputTokens: count(usage.output_tokens),
    },
    priceVersion: textOf(body.price_version),
  };
  const cost = body.cost_nanousd;
  if (typeof cost === 'bigint') return withJson({ ...known, state: 'settled', costNanousd: cost });
  const held = body.held_nanousd;
  const heldNanousd = typeof held === 'bigint' ? held : null;
  return withJson({ ...known, state: 'pending', costNanousd: null, heldNanousd });
}

/** The sum of what is settled. */
export function sumOf(receipts: Iterable<Receipt>): bigint {
  let sum = 0n;
  for (const { costNanousd } of receipts) sum += costNanousd ?? 0n;
  return sum;
}

function settle(
  { requestId, requestedModel, effectiveModel }: AnyReceipt,
  known: Pick<SettledReceipt, 'costNanousd' | 'components'> & Partial<Pick<SettledReceipt, 'usage'>>,
): SettledReceipt {
  const identity = { requestId, requestedModel, effectiveModel };
  return withJson({ ...identity, usage: null, priceVersion: null, state: 'settled', ...known });
}

function readComponents(value: unknown): CostComponents | null {
  if (!isObject(value)) return null;
  const amount = (name: string) => BigInt(count(value[name]));
  return {
    fresh: amount('fresh'),
    cacheWrite: amount('cache_write'),
    cacheRead: amount('cache_read'),
    output: amount('output'),
  };
}

function count(value: unknown): number {
  return Number.isSafeInteger(value) ? Number(value) : 0;
}

/** JSON has no bigint: `JSON.stringify` writes the amounts as strings. */
function withJson<R extends Receipt>(receipt: R): R {
  const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  // A copy, which has no `toJSON` of its own.
  const toJSON = () => JSON.parse(JSON.stringify({ ...receipt }, asText));
  return Object.defineProperty(receipt, 'toJSON', { value: toJSON });
}
