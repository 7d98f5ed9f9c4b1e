import { GatewayError } from '../../canonical/errors.ts';
import type { Clock } from '../../kit/clock.ts';
import { counted } from '../../kit/counted.ts';
import type { NumbersById } from '../../kit/numbers-by-id.ts';
import { LIMITS } from '../../limits.ts';
import { accountEntry, type Limited } from './account-share.ts';
import { WorkBudget } from './work-budget.ts';

/** Null: unlimited. */
interface BodyLimits {
  readonly bodyBytesPerSecond: number | null;
  readonly jsonMembersPerSecond: number | null;
  /** All keys of one account together may send this many times as much; absent or null: no limit. */
  readonly accountFactor?: number | null;
}

/** Where the spending of each key is kept. */
export interface BodySpending {
  readonly bytes: NumbersById;
  readonly members: NumbersById;
}

type Resource = 'body_bytes' | 'json_members';

interface Refusal {
  readonly what: Resource;
  readonly error: GatewayError;
}

/** What the bodies of one key may cost this process. Calls without a key are the operator's own and are not limited. */
export class BodyBudgets {
  readonly #ofKeys: Budgets;
  /** Null: accounts are not limited. */
  readonly #ofAccounts: Budgets | null;
  readonly #onRefused: (what: Resource) => void;

  constructor(
    limits: BodyLimits,
    clock: Clock,
    onRefused: (what: Resource) => void = () => {},
    spent: Partial<BodySpending> = {},
  ) {
    const { accountFactor = null } = limits;
    this.#ofKeys = new Budgets('This key', limits, 1, clock, spent);
    this.#ofAccounts =
      accountFactor === null
        ? null
        : new Budgets('The keys of this account together', limits, accountFactor, clock, spent);
    this.#onRefused = onRefused;
  }

  /** Charges a body of this size, or refuses it: for its bytes, or because the key has no JSON members left. */
  takeBody({ keyId, accountId }: Limited, bytes: number): GatewayError | null {
    if (keyId === null) return null;
    // Charged last, so that a refused body costs neither the key nor the other keys of its account anything.
    const refused = this.#ofAccounts?.refusal(accountEntry(accountId), bytes) ?? this.#ofKeys.refuse(keyId, bytes);
    if (refused === null) {
      this.#ofAccounts?.spendBytes(accountEntry(accountId), bytes);
      return null;
    }
    this.#onRefused(refused.what);
    return refused.error;
  }

  membersLeft({ keyId, accountId }: Limited): number {
    if (keyId === null) return Number.POSITIVE_INFINITY;
    const left = this.#ofKeys.membersLeft(keyId);
    return this.#ofAccounts === null ? left : Math.min(left, this.#ofAccounts.membersLeft(accountEntry(accountId)));
  }

  spendMembers({ keyId, accountId }: Limited, members: number): void {
    if (keyId === null) return;
    this.#ofKeys.members?.spend(keyId, members);
    this.#ofAccounts?.members?.spend(accountEntry(accountId), members);
  }

  /** `members` is what reading the refused body has cost and will be charged. */
  tooManyMembers({ keyId, accountId }: Limited & { readonly keyId: bigint }, members = 0): GatewayError {
    this.#onRefused('json_members');
    const isAccounts = this.#ofAccounts !== null && this.#ofKeys.membersLeft(keyId) >= members;
    return isAccounts
      ? this.#ofAccounts!.tooManyMembers(accountEntry(accountId), members)
      : this.#ofKeys.tooManyMembers(keyId, members);
  }
}

/** The budgets of keys, or of accounts, which have a multiple of them. */
class Budgets {
  readonly #who: string;
  readonly #bytesPerSecond: number | null;
  readonly #membersPerSecond: number | null;
  readonly #bytes: WorkBudget | null;
  readonly members: WorkBudget | null;

  constructor(who: string, limits: BodyLimits, factor: number, clock: Clock, spent: Partial<BodySpending>) {
    const { bodyBytesPerSecond, jsonMembersPerSecond } = limits;
    const bytes = bodyBytesPerSecond === null ? null : bodyBytesPerSecond * factor;
    const members = jsonMembersPerSecond === null ? null : jsonMembersPerSecond * factor;
    this.#who = who;
    this.#bytesPerSecond = bytes;
    this.#membersPerSecond = members;
    this.#bytes = bytes === null ? null : new WorkBudget(bytes, bytes * LIMITS.bodyBurstS, clock, spent.bytes);
    this.members = members === null ? null : new WorkBudget(members, members * LIMITS.jsonBurstS, clock, spent.members);
  }

  /** Charges a body of this size, or says why not. */
  refuse(id: bigint, bytes: number): Refusal | null {
    return this.#noMembers(id) ?? (this.#bytes?.take(id, bytes) === false ? this.#tooManyBytes(id) : null);
  }

  /** The same, but charges nothing. */
  refusal(id: bigint, bytes: number): Refusal | null {
    const hasBytes = this.#bytes === null || this.#bytes.left(id) >= bytes;
    return this.#noMembers(id) ?? (hasBytes ? null : this.#tooManyBytes(id));
  }

  spendBytes(id: bigint, bytes: number): void {
    this.#bytes?.spend(id, bytes);
  }

  #noMembers(id: bigint): Refusal | null {
    return this.members?.left(id) === 0 ? { what: 'json_members', error: this.tooManyMembers(id, 0) } : null;
  }

  #tooManyBytes(id: bigint): Refusal {
    const waitMs = this.#bytes!.waitMs(id);
    const error = this.#refusal(`${counted(this.#bytesPerSecond!, 'byte')} a second of request bodies`, waitMs);
    return { what: 'body_bytes', error };
  }

  membersLeft(id: bigint): number {
    return this.members?.left(id) ?? Number.POSITIVE_INFINITY;
  }

  tooManyMembers(id: bigint, members: number): GatewayError {
    const perSecond = this.#membersPerSecond!;
    const waitMs = this.members!.waitMs(id) + (members * 1000) / perSecond;
    return this.#refusal(`${counted(perSecond, 'JSON member')} a second in its request bodies`, waitMs);
  }

  #refusal(what: string, waitMs: number): GatewayError {
    const retryAfterS = Math.max(1, Math.ceil(waitMs / 1000));
    return new GatewayError('rate_limit_exceeded', {
      message: `${this.#who} may send ${what}, and ${this.#who === 'This key' ? 'has' : 'have'} sent more. Try again in ${retryAfterS} s, or send smaller requests.`,
      retryAfterS,
    });
  }
}
