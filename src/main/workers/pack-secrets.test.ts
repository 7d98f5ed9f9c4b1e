import { expect, test } from 'vitest';
import { Secret } from '../../kit/secret.ts';
import { packSecrets, unpackSecrets } from './pack-secrets.ts';

test('settings arrive in another thread as they were, with their secrets', () => {
  const settings = {
    name: 'a',
    nothing: null,
    limits: [1, 2n, { deep: new Secret('one') }],
    prices: new Map([['model', { key: new Secret('two'), rate: 3 }]]),
  };
  const received = unpackSecrets<typeof settings>(structuredClone(packSecrets(settings)));
  expect(received).toEqual(settings);
  const [, , { deep }] = received.limits as [number, bigint, { deep: Secret }];
  expect([deep.reveal(), received.prices.get('model')?.key.reveal()]).toEqual(['one', 'two']);
});
