import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { GuardedEgress, GuardedRequest } from '../egress/guarded-egress.ts';
import type { ResponseReceiver } from '../egress/sender.ts';
import { ManualClock } from '../kit/clock.ts';
import { IdSource } from '../kit/ids.ts';
import { Secret } from '../kit/secret.ts';
import { LIMITS } from '../limits.ts';
import { MemoryStore } from '../store/memory/memory-store.ts';
import { Custody } from './custody.ts';
import { PROVIDER_ROWS } from './providers.ts';
import { MasterSealer, masterKey } from './seal.ts';

const NOBODY: ResponseReceiver = { head: () => {}, data: () => {}, end: () => {}, failed: () => {} };
const BASE_URL = 'https://resource.example/openai/v1';

/** A custody with a stored key; `meanwhile` runs while the provider is asked about it again. */
async function custodyWith(
  meanwhile: (custody: Custody) => Promise<unknown>,
  sent: GuardedRequest[] = [],
): Promise<Custody> {
  const clock = new ManualClock();
  const store = new MemoryStore(clock);
  await store.createAccount({ id: 1n, name: 'acme', kind: 'prepaid', createdMs: 1 });
  let asked = 0;
  const url = { origin: 'https://resource.example', path: '/openai/v1' };
  const egress = {
    vet: async () => url,
    recall: () => url,
    send: (_url: unknown, request: GuardedRequest) => {
      sent.push(request);
    },
    request: async () => {
      asked += 1;
      if (asked === 2) await meanwhile(custody);
      return { status: 200, headers: {}, body: Buffer.from('{"data":[]}') };
    },
  } as unknown as GuardedEgress;
  const sealer = new MasterSealer([masterKey(randomBytes(32))]);
  const custody = new Custody({ store, sealer, egress, ids: new IdSource(clock, 1), clock });
  await custody.put(1n, 'cloud', new Secret('the-first-key-of-acme-old1'), BASE_URL);
  return custody;
}

test('a key that is removed while it is verified stays removed', async () => {
  const custody = await custodyWith((one) => one.remove(1n, 'cloud'));
  await expect(custody.verify(1n, 'cloud')).rejects.toMatchObject({ kind: 'provider_key_not_found' });
  expect(await custody.list(1n)).toEqual([]);
});

test('a key that is replaced while the old one is verified is not put back', async () => {
  const custody = await custodyWith((one) => one.put(1n, 'cloud', new Secret('the-second-key-of-acme-new2'), BASE_URL));
  expect(await custody.verify(1n, 'cloud')).toMatchObject({ lastFour: 'new2', status: 'verified' });
});

test('a call to a resource is sent for its account, which takes turns with others that wait for the same host', async () => {
  const sent: GuardedRequest[] = [];
  const custody = await custodyWith(async () => {}, sent);
  const resource = await custody.open(1n, PROVIDER_ROWS[0]!);
  resource?.send('/chat/completions', {}, Buffer.from('{}'), NOBODY);
  expect(sent).toMatchObject([{ path: '/openai/v1/chat/completions', onBehalfOf: 1n }]);
});

test('an account has a bounded number of keys verified at a time', async () => {
  const clock = new ManualClock();
  const store = new MemoryStore(clock);
  for (const id of [1n, 2n]) await store.createAccount({ id, name: `a${id}`, kind: 'prepaid', createdMs: 1 });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const url = { origin: 'https://resource.example', path: '/openai/v1' };
  const egress = {
    vet: async () => url,
    recall: () => url,
    request: async () => {
      await released;
      return { status: 200, headers: {}, body: Buffer.from('{"data":[]}') };
    },
  } as unknown as GuardedEgress;
  const sealer = new MasterSealer([masterKey(randomBytes(32))]);
  const custody = new Custody({ store, sealer, egress, ids: new IdSource(clock, 1), clock });
  const put = (accountId: bigint) => custody.put(accountId, 'cloud', new Secret('a-key-of-some-length'), BASE_URL);
  const running = Array.from({ length: LIMITS.keyVerificationsMax }, () => put(1n));
  await expect(put(1n)).rejects.toMatchObject({ status: 429, retryAfterS: 1 });
  const others = put(2n);
  release();
  for (const stored of await Promise.all([...running, others])) expect(stored).toMatchObject({ status: 'verified' });
});
