import type { Usage } from './usage.ts';

/** How a call ended; docs/endings.md says what each ending costs. */
export const ENDINGS = [
  'complete',
  'failed',
  'upstream_error',
  'timeout',
  'shutdown',
  'client_gone',
  'stalled',
  'died',
] as const;
export type Ended = (typeof ENDINGS)[number];

/** Where the billed usage came from; `none` means that nothing was billed and nothing is known. */
export const USAGE_SOURCES = ['reported', 'partial', 'estimated', 'drained', 'none'] as const;
export type UsageSource = (typeof USAGE_SOURCES)[number];

/** Four integers that sum exactly to the cost. */
export interface CostComponents {
  readonly freshNanousd: bigint;
  readonly cacheWriteNanousd: bigint;
  readonly cacheReadNanousd: bigint;
  readonly outputNanousd: bigint;
}

/** One attempt at a host: its result and its duration. */
export interface HostTry {
  readonly host: string;
  readonly outcome: string;
  readonly ms: number;
}

export type ReceiptState = 'open' | 'settled' | 'voided';

/** The kinds of receipt fields and their values; `store/field-kinds.ts` says how each is stored. */
export interface FieldValues {
  /** An id or amount that must fit 64 bits. */
  readonly int64: bigint;
  /** An amount that the money rules compare, and refuse if it does not fit 64 bits. */
  readonly amount: bigint;
  readonly integer: number;
  readonly flag: boolean;
  readonly text: string;
  /** A text that many calls share, stored once. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly tries: readonly HostTry[];
  readonly ended: Ended;
  readonly usageSource: UsageSource;
  readonly usage: Usage;
  readonly components: CostComponents;
}
export type FieldKind = keyof FieldValues;

interface Field<Kind extends FieldKind = FieldKind> {
  readonly kind: Kind;
  readonly nullable: boolean;
  /** A hold may leave it out; the receipt then has null. */
  readonly optional: boolean;
}
export type Fields = Readonly<Record<string, Field>>;

export function required<Kind extends FieldKind>(kind: Kind) {
  return { kind, nullable: false, optional: false } as const;
}

export function nullable<Kind extends FieldKind>(kind: Kind) {
  return { kind, nullable: true, optional: false } as const;
}

export function optional<Kind extends FieldKind>(kind: Kind) {
  return { kind, nullable: true, optional: true } as const;
}

type ValueOf<One extends Field> = FieldValues[One['kind']] | (One extends { readonly nullable: true } ? null : never);

export type ValuesOf<All extends Fields> = { readonly [Name in keyof All]: ValueOf<All[Name]> };

/**
 * What a hold says about its call, in the order of the receipt. The columns, both engines' writers and readers, and the
 * types of hold and receipt follow from this list: a new field needs a line here and a migration.
 */
export const CALL_FIELDS = {
  id: required('int64'),
  accountId: required('int64'),
  keyId: nullable('int64'),
  route: required('name'),
  stream: required('flag'),
  requestedModel: required('name'),
  effectiveModel: required('name'),
  createdMs: required('integer'),
  labels: optional('labels'),
  /** The caller's chain of calls and the call's place in it, as `<id>;<n>`. */
  chain: optional('text'),
  /** Whose key it was. */
  personId: optional('int64'),
} as const satisfies Fields;

/** How a call ended; null while its hold is open. */
const ENDING_FIELDS = {
  ended: required('ended'),
  httpStatus: required('integer'),
} as const satisfies Fields;

/** What a call cost. A new field needs a line here and a migration, as above. */
const COST_FIELDS = {
  usageSource: required('usageSource'),
  usage: nullable('usage'),
  components: nullable('components'),
  costNanousd: required('amount'),
  // For the operator: who served the call, how many attempts it took, what was lost and why.
  host: nullable('name'),
  attempts: required('integer'),
  /** Each attempt, if there was more than one. */
  tries: nullable('tries'),
  lossNanousd: required('int64'),
  lossReason: nullable('text'),
  /**
   * True if the client hung up before any content and the call was charged nevertheless, because the account's loss
   * allowance was used up; otherwise null.
   */
  hangupCharged: nullable('flag'),
  /** How the request to the host differs from the caller's, as in the header `x-gateway-adjusted`. */
  adjusted: nullable('text'),
  /** From the start of the call to the first content of a stream; null for a buffered call, or without content. */
  firstByteMs: nullable('integer'),
} as const satisfies Fields;

/** What settling adds to an open hold. Only `gateway/meter` creates it. */
export const SETTLEMENT_FIELDS = { ...ENDING_FIELDS, ...COST_FIELDS } as const;

export interface Settlement extends ValuesOf<typeof SETTLEMENT_FIELDS> {}

type OrNull<Values> = { readonly [Name in keyof Values]: Values[Name] | null };

/** The durable record of one call: first the hold, then the entry that replaced it. Ids become text only at the edge. */
export interface Receipt
  extends ValuesOf<typeof CALL_FIELDS>,
    OrNull<ValuesOf<typeof ENDING_FIELDS>>,
    ValuesOf<typeof COST_FIELDS> {
  readonly state: ReceiptState;
  readonly priceVersion: string;
  readonly heldNanousd: bigint;
  readonly idempotencyKey: string | null;
  readonly endedMs: number | null;
}

/** The cost fields of an open hold, and of a call that costs nothing. */
export const NOTHING_SETTLED: ValuesOf<typeof COST_FIELDS> = {
  usageSource: 'none',
  usage: null,
  components: null,
  costNanousd: 0n,
  host: null,
  attempts: 0,
  tries: null,
  lossNanousd: 0n,
  lossReason: null,
  hangupCharged: null,
  adjusted: null,
  firstByteMs: null,
};
