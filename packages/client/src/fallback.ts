import { TollgateError } from './errors.ts';
import { type Fetch, randomId, throwIfAbort } from './fetch.ts';
import { isObject } from './json.ts';
import { Member } from './member.ts';
import { formatUsd } from './money.ts';
import type { Receipt } from './receipt.ts';
import type { Wait } from './retry.ts';
import { Spending } from './spending.ts';
import { CallStream } from './stream.ts';

export type MemberSpec = string | { readonly model: string; readonly maxCost?: bigint | undefined };

export interface FallbackOptions {
  /** The most that all attempts together may cost, in nanodollars. */
  readonly budget?: bigint | undefined;
  /** Up to 64 letters, digits, `_` or `-`; a random one by default. `GET /v1/receipts?chain=` lists its calls. */
  readonly chain?: string | undefined;
  /** Called after every attempt; for a stream, once its first content has come. */
  readonly onAttempt?: ((attempt: Attempt) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** What `member.fetch` sends with; the platform's by default. */
  readonly fetch?: Fetch | undefined;
  readonly wait?: Wait | undefined;
}

export interface Attempt {
  readonly model: string;
  /** From 1. */
  readonly place: number;
  /** Undefined if it succeeded. */
  readonly error: unknown;
  /** The receipts of its calls; that of a stream is added when it ends. */
  readonly receipts: readonly Receipt[];
}

/** What all attempts have cost. `receipts` and `spent` include the receipt of a stream once `data.receipt` has resolved. */
interface Spent {
  readonly chain: string;
  readonly attempts: readonly Attempt[];
  readonly receipts: readonly Receipt[];
  readonly spent: bigint;
}

export interface FallbackAnswer<Data> extends Spent {
  readonly data: Data;
  /** The model that answered. */
  readonly model: string;
}

/** What a call gives: an answer's data, or a stream, or whatever an SDK returns. */
export type DataOf<Value> = Value extends { readonly data: infer Data; readonly receipt: Receipt } ? Data : Value;

const MEMBERS_MAX = 99;

/** No member answered, or one failed in a way that would be the same for every member. The last error is the cause. */
export class FallbackError extends Error implements Spent {
  override readonly name = 'FallbackError';
  declare readonly chain: string;
  declare readonly attempts: readonly Attempt[];
  declare readonly receipts: readonly Receipt[];
  declare readonly spent: bigint;
  /** The status of the last attempt, if it had one. */
  declare readonly status: number | null;
  declare readonly code: string | null;

  constructor(made: Spent) {
    const { attempts, spent } = made;
    const { model, error } = attempts.at(-1)!;
    const reason = error instanceof Error ? error.message : String(error);
    const cost = `${attempts.length} attempt${attempts.length === 1 ? '' : 's'} cost ${formatUsd(spent)} USD`;
    super(`The chain ended at ${model}; ${cost}. ${reason}`, { cause: error });
    const { status, code } = error instanceof TollgateError ? error : { status: null, code: null };
    Object.assign(this, made, { status, code });
  }
}

/**
 * Asks one model after the other until one answers. Each attempt is a call of its own, billed on its own. Only a
 * retryable failure advances the chain: what one model refuses for good, the next would refuse as well.
 */
export async function fallback<Returned>(
  members: readonly MemberSpec[],
  call: (member: Member) => Returned,
  options: FallbackOptions = {},
): Promise<FallbackAnswer<DataOf<Awaited<Returned>>>> {
  const spending = new Spending(options.budget);
  const chain = options.chain ?? randomId('chain_');
  const attempts: Attempt[] = [];
  const made: Spent = {
    chain,
    attempts,
    get receipts() {
      return spending.receipts;
    },
    get spent() {
      return spending.spent;
    },
  };
  for (const member of membersOf(members, chain, spending, options)) {
    options.signal?.throwIfAborted();
    const outcome = await attempt(member, call);
    const { model, place, receipts } = member;
    const one = { model, place, receipts, error: 'error' in outcome ? outcome.error : undefined };
    attempts.push(one);
    options.onAttempt?.(one);
    if ('value' in outcome) return answerOf(made, model, outcome.value);
    throwIfAbort(outcome.error, options.signal);
    if (member.isLast || !advances(member, outcome.error)) break;
  }
  throw new FallbackError(made);
}

function membersOf(
  specs: readonly MemberSpec[],
  chainId: string,
  spending: Spending,
  { signal, fetch, wait }: FallbackOptions,
): Member[] {
  if (specs.length === 0 || specs.length > MEMBERS_MAX) {
    throw new TypeError(`fallback() takes 1 to ${MEMBERS_MAX} models, not ${specs.length}.`);
  }
  const terms = specs.map((spec) => (typeof spec === 'string' ? { model: spec } : spec));
  return terms.map(({ model, maxCost }, at) => {
    const place = { place: at + 1, isLast: at === terms.length - 1, firstModel: terms[0]!.model };
    return new Member({ model, maxCost, chainId, spending, signal, fetch, wait, ...place });
  });
}

type Outcome<Value> = { readonly value: Value } | { readonly error: unknown };

async function attempt<Returned>(
  member: Member,
  call: (member: Member) => Returned,
): Promise<Outcome<Awaited<Returned>>> {
  try {
    const value = await call(member);
    if (value instanceof CallStream) await value.start();
    return { value };
  } catch (error) {
    return { error };
  }
}

/** A call that did not use the member's `fetch` is judged by its error. */
function advances({ failure }: Member, error: unknown): boolean {
  return failure?.retryable ?? (error instanceof TollgateError && error.retryable);
}

function answerOf<Value>(made: Spent, model: string, value: Value): FallbackAnswer<DataOf<Value>> {
  const isAnswer = isObject(value) && 'data' in value && isObject(value.receipt) && 'requestId' in value.receipt;
  const data = (isAnswer ? value.data : value) as DataOf<Value>;
  return Object.defineProperties({ data, model }, Object.getOwnPropertyDescriptors(made)) as FallbackAnswer<
    DataOf<Value>
  >;
}
