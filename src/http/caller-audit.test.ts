import { expect, test } from 'vitest';
import { ManualClock } from '../kit/clock.ts';
import { auditOfCaller } from './caller-audit.ts';
import type { PlainRequest } from './routes.ts';

test('a change names the address that its request comes from, by its connection and what proxies say', () => {
  const terms = {
    clock: new ManualClock(0),
    ids: { next: () => 1n },
    clientAddress: (peerAddress: string | null, forwardedFor: string | undefined) =>
      `${forwardedFor} by ${peerAddress}`,
  };
  const caller = { accountId: 7n, keyId: null, key: null };
  const request = { caller, peerAddress: '10.0.0.1', headers: { 'x-forwarded-for': '198.51.100.7' } };
  const row = auditOfCaller(terms, request as unknown as PlainRequest)('webhook.remove', 'hook', null);
  expect(row).toMatchObject({ actorKind: 'gateway_key', accountId: 7n, address: '198.51.100.7 by 10.0.0.1' });
});
