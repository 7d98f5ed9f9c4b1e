import { beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../kit/clock.ts';
import { formatId, IdSource } from '../kit/ids.ts';
import { MemoryStore } from '../store/memory/memory-store.ts';
import type { Account, CreditOperation, LedgerOutcome } from '../store/store.ts';
import {
  type AccountServices,
  createAccount,
  creditAccount,
  ensureLocalAccount,
  findAccount,
  mintKey,
} from './accounts.ts';
import { hashSecret } from './keys.ts';

let services: AccountServices;
beforeEach(() => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  services = { store: new MemoryStore(clock), clock, ids: new IdSource(clock, 1) };
});

async function created(name = 'ada'): Promise<Account> {
  const account = await createAccount(services, { name, kind: 'prepaid' });
  if (account === 'name_taken') throw new Error('taken');
  return account;
}

const apply = async (credit: Omit<CreditOperation, 'kind'>): Promise<LedgerOutcome> => {
  const [outcome] = await services.store.apply([{ ...credit, kind: 'credit' }]);
  return outcome!;
};

test('an account is found by its id or by its name, and no two accounts have the same name', async () => {
  const account = await created();
  expect(await findAccount(services.store, 'ada')).toEqual(account);
  expect(await findAccount(services.store, formatId('acct_', account.id))).toEqual(account);
  expect(await findAccount(services.store, 'bob')).toBeNull();
  expect(await createAccount(services, { name: 'ada', kind: 'prepaid' })).toBe('name_taken');
});

test('the local account is created once, is unlimited, and no other account can have its name', async () => {
  expect(await createAccount(services, { name: 'local', kind: 'prepaid' })).toBe('name_taken');
  const local = await ensureLocalAccount(services);
  expect(local).toMatchObject({ name: 'local', kind: 'unlimited' });
  expect(await ensureLocalAccount(services)).toEqual(local);
});

test('a repeated credit with the same reference counts once; without a reference every credit counts', async () => {
  const { id: accountId } = await created();
  const request = { accountId, amountNanousd: 5n, note: null };
  const first = await creditAccount(services, apply, { ...request, reference: 'invoice 7' });
  expect(first).toEqual({ outcome: { kind: 'credited', balanceNanousd: 5n }, reference: 'invoice 7' });
  const again = await creditAccount(services, apply, { ...request, reference: 'invoice 7' });
  expect(again.outcome).toEqual({ kind: 'credit_repeated', balanceNanousd: 5n });
  await creditAccount(services, apply, { ...request, reference: null });
  const last = await creditAccount(services, apply, { ...request, reference: null });
  expect(last.outcome).toEqual({ kind: 'credited', balanceNanousd: 15n });
});

test('a minted key is stored as its hash, with only the first and last characters of the secret', async () => {
  const { id: accountId } = await created();
  const limits = { capNanousd: 7n, capWindow: 'day' as const, expiresMs: null, models: ['m'] };
  const request = { accountId, name: 'ci', ...limits, permissions: ['provider_keys'], onUnsupported: 'drop' } as const;
  const minted = await mintKey(services, request);
  if (typeof minted === 'string') throw new Error('no account');
  expect(minted.key).toMatchObject({ ...request, revokedMs: null });
  expect(minted.key.sha256Hex).toBe(hashSecret(minted.secret.reveal()));
  const members = Object.values(minted.key).map(String).join(' ');
  expect(members).not.toContain(minted.secret.reveal().slice(12, -4));
  expect(await mintKey(services, { ...request, accountId: 1n })).toBe('no_account');
});
