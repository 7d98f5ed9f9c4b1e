import { expect, test } from 'vitest';
import { createWebhooks } from '../src/webhooks.ts';

test('every call for webhooks has its route and its body', async () => {
  const sent: [string, string, unknown][] = [];
  const webhooks = createWebhooks({
    baseURL: 'http://gateway.example/v1',
    apiKey: 'k',
    fetch: async (input, init) => {
      expect(new Headers(init?.headers).get('authorization')).toBe('Bearer k');
      const body = typeof init?.body === 'string' ? JSON.parse(init.body) : null;
      sent.push([init?.method ?? 'GET', String(input).replace('http://gateway.example', ''), body]);
      return Response.json({ data: [] });
    },
  });
  const webhook = { url: 'https://hooks.example.com/jobs', events: ['job.*'] };
  await webhooks.put('my jobs', webhook);
  await webhooks.get('jobs');
  expect(await webhooks.list()).toEqual([]);
  await webhooks.rotate('jobs');
  await webhooks.rotate('jobs', { grace_seconds: 60 });
  await webhooks.test('jobs');
  await webhooks.deliveries('jobs', { limit: 5 });
  await webhooks.remove('jobs');
  expect(sent).toEqual([
    ['PUT', '/v1/webhooks/my%20jobs', webhook],
    ['GET', '/v1/webhooks/jobs', null],
    ['GET', '/v1/webhooks', null],
    ['POST', '/v1/webhooks/jobs/rotate', {}],
    ['POST', '/v1/webhooks/jobs/rotate', { grace_seconds: 60 }],
    ['POST', '/v1/webhooks/jobs/test', {}],
    ['GET', '/v1/webhooks/jobs/deliveries?limit=5', null],
    ['DELETE', '/v1/webhooks/jobs', null],
  ]);
});

test('a change that answers with a secret is sent once, because the second answer would not have the same one', async () => {
  const sent: string[] = [];
  const webhooks = createWebhooks({
    baseURL: 'http://gateway.example',
    retries: 2,
    wait: async () => {},
    fetch: async (_, init) => {
      sent.push(init?.method ?? 'GET');
      throw new TypeError('fetch failed');
    },
  });
  const lost = { code: 'connection_error' };
  await expect(webhooks.put('jobs', { url: 'https://hooks.example.com/jobs' })).rejects.toMatchObject(lost);
  await expect(webhooks.rotate('jobs')).rejects.toMatchObject(lost);
  expect(sent).toEqual(['PUT', 'POST']);
  await expect(webhooks.rotate('jobs', {}, { retries: 1 })).rejects.toMatchObject(lost);
  await expect(webhooks.get('jobs')).rejects.toMatchObject(lost);
  expect(sent).toEqual(['PUT', 'POST', 'POST', 'POST', 'GET', 'GET', 'GET']);
});
