import type { Store } from '../../src/store/store.ts';
import type { Random } from '../../test/random.ts';
import { aCredit, aKey, anAccount } from '../../test/store-fixtures.ts';

/** Who makes calls of what in the campaign. A call refers to each of them by its place in the list. */
export interface World {
  readonly accounts: readonly bigint[];
  /** Whose keys: the account by its place, and the person. */
  readonly keys: readonly WorldKey[];
  readonly people: readonly bigint[];
  readonly models: readonly string[];
  readonly routes: readonly string[];
  readonly hosts: readonly string[];
  readonly teams: readonly string[];
}

interface WorldKey {
  readonly id: bigint;
  readonly account: number;
  readonly person: number | null;
  /** Most keys use few models, on one route. */
  readonly models: readonly number[];
  readonly route: number;
}

const ACCOUNTS = 12;
const KEYS = 80;
const PEOPLE = 20;

export function makeWorld(random: Random): World {
  const models = Array.from({ length: 15 }, (_, at) => `vendor/model-${at}`);
  return {
    accounts: Array.from({ length: ACCOUNTS }, (_, at) => BigInt(at + 1)),
    people: Array.from({ length: PEOPLE }, (_, at) => BigInt(at + 1)),
    keys: Array.from({ length: KEYS }, (_, at) => ({
      id: BigInt(at + 1),
      account: random.below(ACCOUNTS),
      person: random.chance(0.5) ? random.below(PEOPLE) : null,
      models: Array.from({ length: random.between(1, 3) }, () => random.below(models.length)),
      route: random.below(3),
    })),
    models,
    routes: ['/v1/chat/completions', '/v1/messages', '/v1/embeddings'],
    hosts: ['host-a', 'host-b', 'host-c', 'host-d'],
    teams: ['support', 'search', 'a "quoted" team'],
  };
}

export async function openWorld(store: Store, { accounts, people, keys }: World): Promise<bigint> {
  await store.registerPrices('prices-1', '{}');
  const { epoch } = await store.beginInstance();
  const audit = { atMs: 0, actorKind: 'command_line', actorId: null, actorName: 'campaign' } as const;
  const change = { action: 'test', subject: 'test', accountId: null, before: null, after: null, address: null };
  let audits = 0n;
  const note = () => ({ id: ++audits, ...audit, ...change });
  for (const id of accounts) {
    await store.createAccount(anAccount(id));
    await store.apply([aCredit(id, 1_000_000_000_000_000n, { accountId: id })]);
  }
  for (const id of people) {
    const person = {
      id,
      email: `person-${id}@example.org`,
      name: `Person ${id}`,
      passwordHash: null,
      isOperator: false,
    };
    await store.directory.createPerson({ ...person, createdMs: 0, identity: null }, note());
    const inAccounts = new Set(
      keys.flatMap(({ person, account }) => (people[person ?? -1] === id ? [accounts[account]!] : [])),
    );
    for (const accountId of inAccounts) {
      const role = { accountId, personId: id, role: 'member', capNanousd: null, capWindow: 'lifetime' } as const;
      await store.directory.putMembership(role, note());
    }
  }
  for (const { id, account, person } of keys) {
    const personId = person === null ? null : people[person]!;
    await store.createKey(aKey(id, accounts[account]!, { personId }));
  }
  return epoch;
}
