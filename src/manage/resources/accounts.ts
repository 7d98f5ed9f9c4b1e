import { z } from 'zod';
import { ACCOUNT_PREFIX, KEY_PREFIX, PERSON_PREFIX } from '../../canonical/id-prefixes.ts';
import type { AccountView } from '../../operator/view.ts';
import { route, VIEWER } from '../route.ts';
import { capWindow, EXAMPLE_IDS, EXAMPLE_TIME, exampleList, id, listOf, nanousd, seconds } from '../schema-fields.ts';

const account = z
  .object({
    object: z.literal('account'),
    id: id(ACCOUNT_PREFIX),
    name: z.string(),
    kind: z.enum(['prepaid', 'unlimited']),
    status: z
      .enum(['active', 'suspended', 'closed'])
      .describe('A suspended account takes no new calls until it is resumed, a closed one never again.'),
    created: seconds,
    balance_nanousd: nanousd,
    held_nanousd: nanousd,
    reserved_nanousd: nanousd,
    available_nanousd: nanousd,
    spent_nanousd: nanousd,
    version: z.number().describe('Increased by every change of the name or the status.'),
  })
  .meta({ id: 'Account' });

const closedAccount = account
  .extend({ paid_out_nanousd: nanousd.describe('The balance that was paid out; 0 if the account was closed before.') })
  .meta({ id: 'ClosedAccount' });

const ACCOUNT: AccountView = {
  object: 'account',
  id: EXAMPLE_IDS.account,
  name: 'acme',
  kind: 'prepaid',
  status: 'active',
  created: EXAMPLE_TIME,
  balance_nanousd: 25_000_000_000n,
  held_nanousd: 120_000_000n,
  reserved_nanousd: 0n,
  available_nanousd: 24_880_000_000n,
  spent_nanousd: 3_140_000_000n,
  version: 3,
};

const CHOICE = { account: EXAMPLE_IDS.account };
const NO_MONEY = { balance_nanousd: 0n, held_nanousd: 0n, reserved_nanousd: 0n, available_nanousd: 0n };

const credit = z
  .object({
    object: z.literal('credit'),
    account: id(ACCOUNT_PREFIX),
    amount_nanousd: nanousd,
    reference: z.string(),
    repeated: z.boolean().describe('The reference was credited before, so nothing was changed now.'),
    balance_nanousd: nanousd,
  })
  .meta({ id: 'Credit' });

const spending = {
  spend_cap_nanousd: nanousd.nullable(),
  spent_nanousd: nanousd,
  held_nanousd: nanousd,
  reserved_nanousd: nanousd,
  remaining_nanousd: nanousd.nullable(),
  window: capWindow,
  resets_at: seconds.nullable(),
};
const keyBalance = z.object({ id: id(KEY_PREFIX), ...spending });
const personBalance = z.object({ id: id(PERSON_PREFIX), ...spending });

export const balance = z
  .object({
    object: z.literal('balance'),
    currency: z.literal('USD'),
    account: id(ACCOUNT_PREFIX),
    name: z.string(),
    unlimited: z.boolean(),
    balance_nanousd: nanousd,
    held_nanousd: nanousd,
    reserved_nanousd: nanousd,
    available_nanousd: nanousd,
    spent_nanousd: nanousd,
    hangups: z
      .object({ allowance_nanousd: nanousd, remaining_nanousd: nanousd, resets_at: seconds })
      .nullable()
      .exactOptional()
      .describe('What is left of the loss allowance in this hour; null if the account has no limit.'),
    key: keyBalance.nullable().describe('The spending of the key that was named; null if none was.'),
    person: personBalance
      .exactOptional()
      .describe(
        "The spending of the key's person in the account; without `key`, that of whoever asks. Absent if the key belongs to no person, or whoever asks has no role in the account.",
      ),
  })
  .meta({ id: 'Balance' });

export const ACCOUNTS_ROUTES = [
  route({
    method: 'GET',
    path: '/accounts',
    verb: 'own.accounts',
    access: 'anybody',
    summary: 'All accounts for an operator, otherwise those in which the caller has a role.',
    response: listOf(account),
    example: { input: { limit: 100 }, output: exampleList(ACCOUNT) },
  }),
  route({
    method: 'POST',
    path: '/accounts',
    verb: 'accounts.create',
    access: 'operator',
    creates: true,
    summary: 'Creates an account.',
    response: account,
    example: { input: { name: 'globex', kind: 'prepaid' }, output: { ...ACCOUNT, name: 'globex' } },
  }),
  route({
    method: 'GET',
    path: '/accounts/{account}',
    verb: 'accounts.show',
    access: VIEWER,
    scope: 'account',
    summary: 'One account, with its balance.',
    response: account,
    example: { input: CHOICE, output: ACCOUNT },
  }),
  route({
    method: 'PATCH',
    path: '/accounts/{account}',
    verb: 'accounts.rename',
    access: 'operator',
    versioned: true,
    summary: 'Renames an account.',
    response: account,
    example: { input: { ...CHOICE, name: 'acme' }, output: { ...ACCOUNT, version: 4 } },
  }),
  route({
    method: 'POST',
    path: '/accounts/{account}/suspend',
    verb: 'accounts.suspend',
    access: 'operator',
    summary: 'Refuses new calls of an account; running calls finish and are charged.',
    response: account,
    example: { input: CHOICE, output: { ...ACCOUNT, status: 'suspended', version: 4 } },
  }),
  route({
    method: 'POST',
    path: '/accounts/{account}/resume',
    verb: 'accounts.resume',
    access: 'operator',
    summary: 'Lets a suspended account make calls again.',
    response: account,
    example: { input: CHOICE, output: { ...ACCOUNT, version: 5 } },
  }),
  route({
    method: 'POST',
    path: '/accounts/{account}/close',
    verb: 'accounts.close',
    access: 'operator',
    summary: 'Suspends an account, waits for its running calls, pays the balance out and closes it for good.',
    response: closedAccount,
    example: {
      input: { account: 'globex', wait_seconds: 30 },
      output: {
        ...ACCOUNT,
        ...NO_MONEY,
        name: 'globex',
        status: 'closed',
        version: 5,
        paid_out_nanousd: 24_880_000_000n,
      },
    },
  }),
  route({
    method: 'POST',
    path: '/accounts/{account}/credits',
    verb: 'accounts.credit',
    access: 'operator',
    creates: true,
    summary: 'Adds money to an account, or removes it. The same reference is credited once.',
    response: credit,
    example: {
      input: { account: 'acme', amount_nanousd: 25_000_000_000, reference: 'invoice-17', note: 'Paid by card' },
      output: {
        object: 'credit',
        account: EXAMPLE_IDS.account,
        amount_nanousd: 25_000_000_000n,
        reference: 'invoice-17',
        repeated: false,
        balance_nanousd: 25_000_000_000n,
      },
    },
  }),
  route({
    method: 'GET',
    path: '/accounts/{account}/balance',
    verb: 'balance.show',
    access: VIEWER,
    scope: 'account',
    membersOwn: 'balance',
    summary:
      'The balance of an account; with `key`, also what that key has spent. Members may name only their own keys.',
    response: balance,
    example: {
      input: { account: 'acme' },
      output: {
        object: 'balance',
        currency: 'USD',
        account: EXAMPLE_IDS.account,
        name: 'acme',
        unlimited: false,
        balance_nanousd: 25_000_000_000n,
        held_nanousd: 120_000_000n,
        reserved_nanousd: 0n,
        available_nanousd: 24_880_000_000n,
        spent_nanousd: 3_140_000_000n,
        hangups: null,
        key: null,
      },
    },
  }),
];
