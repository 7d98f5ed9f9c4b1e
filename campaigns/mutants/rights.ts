import type { Mutant } from './seeds.ts';

function mutant(name: string, file: string, find: string, replace: string, ...tests: string[]): Mutant {
  return { name: `rights: ${name}`, changes: [{ file, find, replace }], tests };
}

const STORE = 'test/store.test.ts';
const POSTGRES = 'test/store-postgres.test.ts';
const ROLES = 'test/roles.test.ts';

/** Faults of the person's cap, of the states of accounts, and of what people may give and change. */
export const RIGHTS_MUTANTS: readonly Mutant[] = [
  mutant(
    "a person's cap that SQLite does not check",
    'src/store/sqlite/hold-checks.ts',
    'const overPersonCap = personWindow === null ? null :',
    'const overPersonCap = personWindow !== null || personWindow === null ? null :',
    STORE,
  ),
  mutant(
    "a person's cap that PostgreSQL does not check",
    'src/store/rules/money-rules.ts',
    'if (ofPerson !== null && amount > ofPerson)',
    'if (ofPerson !== null && amount < 0n)',
    POSTGRES,
  ),
  mutant(
    "a person's hold that PostgreSQL does not count",
    'src/store/rules/money-rules.ts',
    'for (const each of [account, room.spend, room.personSpend]) each.heldNanousd += amount;',
    'for (const each of [account, room.spend]) each.heldNanousd += amount;',
    POSTGRES,
  ),
  mutant(
    'calls of a suspended account on SQLite',
    'src/store/sqlite/hold-checks.ts',
    'if (balance.status !== ACCOUNT_STATUS.of.active)',
    'if (balance.status === ACCOUNT_STATUS.of.closed)',
    STORE,
  ),
  mutant(
    'calls of a suspended account on PostgreSQL',
    'src/store/rules/money-rules.ts',
    "if (account.status !== 'active') return refused(",
    "if (account.status === 'closed') return refused(",
    POSTGRES,
  ),
  mutant(
    'an account that is closed while calls are open',
    'src/store/programs/accounts.ts',
    '  if (open.calls > 0) return open;\n',
    '',
    STORE,
  ),
  mutant(
    'keys of viewers that work',
    'src/store/programs/person-keys.ts',
    'membership.role <> ',
    'membership.role + 9 <> ',
    STORE,
  ),
  mutant(
    'an address that the invitation of an owner confirms',
    'src/store/programs/invitations.ts',
    "const isConfirmed = giver === 'operator' ||",
    'const isConfirmed = true ||',
    STORE,
    ROLES,
  ),
  mutant(
    'a role elsewhere for a person whose address is not confirmed',
    'src/store/programs/memberships.ts',
    'return unconfirmedIn === null || unconfirmedIn === accountId;',
    'return unconfirmedIn === null || accountId !== null;',
    STORE,
    ROLES,
  ),
  mutant(
    'links that outlive their management key',
    'src/store/programs/invitations.ts',
    'key.revokedMs !== null || (',
    'false || (',
    STORE,
    ROLES,
  ),
  mutant(
    'a cap that a member lifts',
    'src/operator/owner-terms.ts',
    '  return wanted === null || wanted > fixed;',
    '  return wanted !== null && wanted > fixed;',
    ROLES,
  ),
];
