import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { newWebhookSecret, signedHeaders } from './signature.ts';

const NOW_S = Math.floor(Date.now() / 1000);
const BODY = '{"type":"webhook.test","data":{"amount_nanousd":9007199254740993}}';

test('the standardwebhooks package verifies a delivery with either of two secrets, and with no other', () => {
  const [one, other, stranger] = [newWebhookSecret(), newWebhookSecret(), newWebhookSecret()];
  const headers = signedHeaders('evt_1', NOW_S, BODY, [one, other]);
  for (const secret of [one, other])
    expect(new Webhook(secret.reveal()).verify(BODY, headers)).toMatchObject({ type: 'webhook.test' });
  expect(() => new Webhook(stranger.reveal()).verify(BODY, headers)).toThrow('No matching signature');
  expect(() => new Webhook(one.reveal()).verify(`${BODY} `, headers)).toThrow('No matching signature');
  const later = { ...headers, 'webhook-id': 'evt_2' };
  expect(() => new Webhook(one.reveal()).verify(BODY, later)).toThrow('No matching signature');
});

test('a secret has 256 random bits and is not written by accident', () => {
  const secret = newWebhookSecret();
  expect(secret.reveal()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(JSON.stringify({ secret })).not.toContain('whsec_');
});
