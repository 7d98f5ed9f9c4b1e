import { GatewayError } from '../../canonical/errors.ts';
import type { Clock } from '../../kit/clock.ts';
import type { NumbersById } from '../../kit/numbers-by-id.ts';
import { LIMITS } from '../../limits.ts';
import { WorkBudget } from './work-budget.ts';

/** Null: unlimited. */
export interface BodyLimits {
  readonly bodyBytesPerSecond: number | null;
  readonly jsonMembersPerSecond: number | null;
}

/** Where the spending of each key is kept. */
export interface BodySpending {
  readonly bytes: NumbersById;
  readonly members: NumbersById;
}

/** What the bodies of one key may cost this process. Calls without a key are the operator's own and are not limited. */
export class BodyBudgets {
  readonly #limits: BodyLimits;
  readonly #bytes: WorkBudget | null;
  readonly #members: WorkBudget | null;
  readonly #onRefused: (what: 'body_bytes' | 'json_members') => void;

  constructor(
    limits: BodyLimits,
    clock: Clock,
    onRefused: (what: 'body_bytes' | 'json_members') => void = () => {},
    spent: Partial<BodySpending> = {},
  ) {
    const { bodyBytesPerSecond: bytes, jsonMembersPerSecond: members } = limits;
    this.#limits = limits;
    this.#bytes = bytes === null ? null : new WorkBudget(bytes, bytes * LIMITS.bodyBurstS, clock, spent.bytes);
    this.#members =
      members === null ? null : new WorkBudget(members, members * LIMITS.jsonBurstS, clock, spent.members);
    this.#onRefused = onRefused;
  }

  /** Charges a body of this size, or refuses it: for its bytes, or because the key has no JSON members left. */
  takeBody(keyId: bigint | null, bytes: number): GatewayError | null {
    if (keyId === null) return null;
    if (this.#members?.left(keyId) === 0) return this.tooManyMembers(keyId);
    if (this.#bytes === null || this.#bytes.take(keyId, bytes)) return null;
    return this.#tooManyBytes(this.#bytes.waitMs(keyId));
  }

  membersLeft(keyId: bigint | null): number {
    return keyId === null || this.#members === null ? Number.POSITIVE_INFINITY : this.#members.left(keyId);
  }

  spendMembers(keyId: bigint | null, members: number): void {
    if (keyId !== null) this.#members?.spend(keyId, members);
  }

  /** `members` is what reading the refused body has cost and will be charged. */
  tooManyMembers(keyId: bigint, members = 0): GatewayError {
    this.#onRefused('json_members');
    const perSecond = this.#limits.jsonMembersPerSecond!;
    const waitMs = this.#members!.waitMs(keyId) + (members * 1000) / perSecond;
    return refusal(`${perSecond} JSON members a second in its request bodies`, waitMs);
  }

  #tooManyBytes(waitMs: number): GatewayError {
    this.#onRefused('body_bytes');
    return refusal(`${this.#limits.bodyBytesPerSecond} bytes a second of request bodies`, waitMs);
  }
}

function refusal(what: string, waitMs: number): GatewayError {
  const retryAfterS = Math.max(1, Math.ceil(waitMs / 1000));
  return new GatewayError('rate_limit_exceeded', {
    message: `This key may send ${what}, and has sent more. Try again in ${retryAfterS} s, or send smaller requests.`,
    retryAfterS,
  });
}
