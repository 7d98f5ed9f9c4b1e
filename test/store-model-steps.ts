import fc from 'fast-check';
import { ENDINGS, USAGE_SOURCES } from '../src/canonical/receipt.ts';
import { INT64_MAX } from '../src/store/int64.ts';
import {
  CAP_WINDOWS,
  type CapWindow,
  type LedgerOperation,
  ON_UNSUPPORTED,
  type ProviderKeyRow,
  type Store,
} from '../src/store/store.ts';
import { aCredit, aHold, aSettle, NOON_MS } from './store-fixtures.ts';
import { anyJobOperation, anyJobStep, type JobOperation, type JobStep } from './store-model-jobs.ts';

/** Only a few accounts, keys and ids, so that operations collide; account 4, key 4 and person 3 never exist. */
const anyAccount = fc.bigInt(1n, 4n);
const anyPerson = fc.bigInt(1n, 3n);
const anyKey = fc.option(fc.bigInt(1n, 4n));
const anyId = fc.bigInt(1n, 25n);
const anyAmount = fc.oneof(
  { weight: 20, arbitrary: fc.bigInt(0n, 120n) },
  { weight: 2, arbitrary: fc.bigInt(-5n, 0n) },
  { weight: 1, arbitrary: fc.constantFrom(INT64_MAX, INT64_MAX - 1n, INT64_MAX / 2n, 2n ** 64n, -(2n ** 64n)) },
);
const anyCount = fc.nat(1_000_000);
const anyText = fc.string({ maxLength: 8, unit: 'grapheme' });

const anyHold = fc
  .record({
    id: anyId,
    amount: anyAmount,
    accountId: anyAccount,
    keyId: anyKey,
    ceilingNanousd: fc.option(fc.oneof(fc.bigInt(0n, 200n), fc.constant(2n ** 64n)), { freq: 3 }),
    stream: fc.boolean(),
    requestedModel: fc.constantFrom('a', 'b', 'x/a'),
    effectiveModel: fc.constantFrom('a', 'b'),
    priceId: fc.constantFrom(1, 1, 1, 2, 3),
    labels: fc.option(fc.dictionary(anyText, anyText, { maxKeys: 2 })),
    idempotency: fc.option(
      fc.record({ key: fc.constantFrom('k1', 'k2'), bodySha256: fc.constantFrom(Buffer.from('a'), Buffer.from('b')) }),
    ),
    lossLimitNanousd: fc.option(fc.bigInt(0n, 150n), { freq: 1 }),
    isStale: fc.nat(20).map((n) => n === 0),
    isOthers: fc.nat(20).map((n) => n === 0),
  })
  .map(({ id, amount, isStale, isOthers, ...rest }) => ({ ...aHold(id, amount, rest), isStale, isOthers }));

const anyUsage = fc.record({
  freshTokens: anyCount,
  cacheReadTokens: anyCount,
  cacheWriteTokens: anyCount,
  cacheWrite1hTokens: anyCount,
  outputTokens: anyCount,
  reasoningTokens: anyCount,
});

/** Components that usually add up to the cost. */
const anyCost = fc.oneof(
  fc.tuple(anyAmount).map(([cost]) => ({ cost, components: null })),
  fc
    .tuple(fc.bigInt(-1n, 60n), fc.bigInt(0n, 30n), fc.bigInt(0n, 30n), fc.nat(9))
    .map(([fresh, read, output, slip]) => ({
      cost: fresh + read + output + (slip === 0 ? 1n : 0n),
      components: { freshNanousd: fresh, cacheWriteNanousd: 0n, cacheReadNanousd: read, outputNanousd: output },
    })),
);

const anySettle = fc
  .record({
    lossLimitNanousd: fc.option(fc.oneof(fc.bigInt(0n, 150n), fc.constant(2n ** 64n))),
    accountLossNanousd: fc.option(fc.oneof(fc.bigInt(0n, 100n), fc.constantFrom(INT64_MAX - 1n, INT64_MAX)), {
      freq: 2,
    }),
    hangupCharged: fc.constantFrom(true, null),
    adjusted: fc.option(anyText),
    firstByteMs: fc.option(fc.nat()),
    id: anyId,
    cost: anyCost,
    ended: fc.constantFrom(...ENDINGS),
    usageSource: fc.constantFrom(...USAGE_SOURCES),
    usage: fc.option(anyUsage),
    host: fc.option(fc.constantFrom('h1', 'h2')),
    attempts: fc.nat(3),
    tries: fc.option(fc.array(fc.record({ host: anyText, outcome: anyText, ms: fc.nat() }), { maxLength: 3 })),
    lossNanousd: fc.bigInt(0n, 50n),
    lossReason: fc.option(anyText),
    kept: fc.option(fc.uint8Array({ maxLength: 3 })),
  })
  .map(({ id, cost, kept, lossLimitNanousd, accountLossNanousd, ...rest }) => {
    const settle = aSettle(id, cost.cost, { ...rest, components: cost.components }, kept);
    return { ...settle, lossLimitNanousd, accountLossNanousd };
  });

const anyProvider = fc.constantFrom('p1', 'p2');
const anyProviderKey = fc.record({
  id: fc.bigInt(1n, 5n),
  accountId: anyAccount,
  provider: anyProvider,
  baseUrl: anyText,
  lastFour: anyText,
  sealed: fc.uint8Array({ maxLength: 2 }),
  createdMs: anyCount,
  verifiedMs: anyCount,
});

const anyCredit = fc
  .record({
    id: anyId,
    amount: fc.oneof(anyAmount, fc.bigInt(-200n, 500n)),
    accountId: anyAccount,
    note: fc.option(anyText),
  })
  .chain(({ id, amount, ...rest }) =>
    fc.constantFrom('r1', 'r2', `r${id}`).map((reference) => aCredit(id, amount, { reference, ...rest })),
  );

/** A refund of a call that may not exist, or that may belong to another account. */
const anyRefund = fc
  .record({ id: anyId, callId: anyId, accountId: fc.bigInt(1n, 3n), amount: fc.oneof(fc.bigInt(1n, 60n), anyAmount) })
  .chain(({ id, amount, ...rest }) =>
    fc.constantFrom('r1', `r${id}`).map((reference) => aCredit(id, amount, { reference, ...rest })),
  );

const anyVoid = fc.record({ kind: fc.constant('void' as const), id: anyId, reason: anyText });

const anyOperation = fc.oneof(
  { weight: 6, arbitrary: anyHold },
  { weight: 6, arbitrary: anySettle },
  { weight: 2, arbitrary: anyCredit },
  { weight: 3, arbitrary: anyRefund },
  { weight: 1, arbitrary: anyVoid },
);

const anyKeyChange = fc.record(
  {
    name: anyText,
    capNanousd: fc.option(fc.bigInt(0n, 200n)),
    capWindow: fc.constantFrom(...CAP_WINDOWS),
    onUnsupported: fc.constantFrom(...ON_UNSUPPORTED),
    note: fc.option(anyText),
    maxCostNanousd: fc.option(fc.bigInt(1n, 200n)),
    expiresMs: fc.option(fc.integer({ min: NOON_MS, max: NOON_MS + 40 * 86_400_000 })),
    models: fc.option(fc.array(anyText, { maxLength: 2 })),
    revokedMs: fc.constant(NOON_MS),
    disabledMs: fc.option(fc.constant(NOON_MS)),
  },
  { requiredKeys: [] },
);

export const anyStep = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      step: fc.constant('apply'),
      operations: fc.array(
        fc.oneof({ weight: 3, arbitrary: anyOperation }, { weight: 2, arbitrary: anyJobOperation }),
        {
          maxLength: 12,
        },
      ),
    }),
  },
  { weight: 10, arbitrary: anyJobStep },
  { weight: 3, arbitrary: fc.record({ step: fc.constant('clock'), hours: fc.integer({ min: -30, max: 200 }) }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('updateKey'), id: fc.bigInt(1n, 4n), change: anyKeyChange }) },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.constant('atOnce'),
      operations: fc.array(anyOperation, { minLength: 1, maxLength: 12 }),
      id: fc.bigInt(1n, 3n),
      change: fc.record({ capWindow: fc.constantFrom(...CAP_WINDOWS) }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constant('createKey'),
      id: fc.bigInt(1n, 3n),
      accountId: anyAccount,
      personId: fc.option(anyPerson),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      step: fc.constant('putMember'),
      accountId: anyAccount,
      personId: anyPerson,
      capNanousd: fc.option(fc.bigInt(0n, 200n)),
      capWindow: fc.constantFrom(...CAP_WINDOWS),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ step: fc.constant('removeMember'), accountId: anyAccount, personId: anyPerson }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constant('setAccount'),
      accountId: anyAccount,
      to: fc.constantFrom('active', 'active', 'suspended', 'closed', 'renamed'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ step: fc.constant('setPerson'), personId: anyPerson, isDisabled: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('beginInstance') }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('closeBooks'), forgetHours: fc.option(fc.nat(100)) }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('sweep') }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('putProviderKey'), row: anyProviderKey }) },
  {
    weight: 1,
    arbitrary: fc.record({ step: fc.constant('deleteProviderKey'), accountId: anyAccount, provider: anyProvider }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constant('reseal'),
      id: fc.bigInt(1n, 5n),
      before: fc.uint8Array({ maxLength: 1 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('reopen') }) },
) as fc.Arbitrary<Step>;

export type Apply = {
  step: 'apply';
  operations: readonly ((LedgerOperation & { isStale?: boolean; isOthers?: boolean }) | JobOperation)[];
};
export type UpdateKey = { step: 'updateKey'; id: bigint; change: Parameters<Store['updateKey']>[1] };
/** A batch and a change of a key that run at the same time. */
export type AtOnce = Omit<Apply, 'step'> & Omit<UpdateKey, 'step'> & { step: 'atOnce' };

export type Step =
  | Apply
  | UpdateKey
  | AtOnce
  | JobStep
  | { step: 'clock'; hours: number }
  | { step: 'createKey'; id: bigint; accountId: bigint; personId: bigint | null }
  | { step: 'putMember'; accountId: bigint; personId: bigint; capNanousd: bigint | null; capWindow: CapWindow }
  | { step: 'removeMember'; accountId: bigint; personId: bigint }
  | { step: 'setAccount'; accountId: bigint; to: 'active' | 'suspended' | 'closed' | 'renamed' }
  | { step: 'setPerson'; personId: bigint; isDisabled: boolean }
  | { step: 'beginInstance' }
  | { step: 'closeBooks'; forgetHours: number | null }
  | { step: 'sweep' }
  | { step: 'putProviderKey'; row: ProviderKeyRow }
  | { step: 'deleteProviderKey'; accountId: bigint; provider: string }
  | { step: 'reseal'; id: bigint; before: Uint8Array }
  | { step: 'reopen' };
