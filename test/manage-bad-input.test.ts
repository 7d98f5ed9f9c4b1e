import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';

let harness: Harness;
let token: string;
beforeAll(async () => {
  harness = await startHarness();
  token = readFileSync(join(harness.folder, 'console.token'), 'utf8').trim();
});
afterAll(() => harness.stop());

function send(method: string, path: string, body?: string): Promise<Response> {
  return fetch(`${harness.url}/manage/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body }),
  });
}

test.each([
  ['POST', '/accounts', '{"name":""}', 'name'],
  ['POST', '/accounts', '{}', 'name'],
  ['POST', '/accounts', '{"name":"x","colour":"red"}', 'colour'],
  ['POST', '/accounts', '{"name":"one","name":"two"}', 'name'],
  ['POST', '/keys', '{"account":"local","window":"century"}', 'window'],
  ['POST', '/keys', '{"account":"local","window":"day"}', 'window'],
  ['POST', '/keys', '{"account":"local","models":["x"," "]}', 'models[1]'],
  ['POST', '/keys', '{"account":"local","expires_at":1}', 'expires_at'],
  ['GET', '/receipts?after=zzz', undefined, 'after'],
  ['GET', '/jobs?group=zzz', undefined, 'group'],
  ['GET', '/usage?since=7200&until=3600', undefined, 'since'],
  ['GET', '/usage?group_by=colour', undefined, 'group_by'],
  ['GET', '/keys?limit=1&limit=2', undefined, 'limit'],
  ['GET', '/keys?format=xml', undefined, 'format'],
])('the member at fault is named in param: %s %s %s', async (method, path, body, param) => {
  const refused = await send(method, path, body);
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ error: { param } });
});

test('a path with other methods lists them in its Allow header', async () => {
  const refused = await send('DELETE', '/keys');
  expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, POST']);
});
