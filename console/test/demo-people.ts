import { connect } from 'node:net';
import { formatId, parseId } from '../../src/kit/ids.ts';
import type { GuardedWorld } from '../../src/main/custody.ts';
import { type CloudResource, startResource } from '../../test/cloud-resource.ts';
import type { Harness } from '../../test/harness.ts';
import { enrol, openSession } from '../../test/people.ts';
import { type Demo, startDemo } from './demo-data.ts';
import type { ManageClient } from './manage-client.ts';

/** Every name has a public address, so that webhooks may have one, and nothing answers there. */
const HOOK_WORLD: GuardedWorld = {
  resolve: async () => ['93.184.216.34'],
  dial: ({ address, port }) => connect({ host: address === '127.0.0.1' ? address : '127.0.0.2', port }),
};

const PROVIDER_KEY = 'own-key-of-the-demo-0123456789-k7Qd';

/**
 * The same gateway with people, jobs, alerts and everything else that the other pages show. The account has a provider key, so an
 * unknown model is taken for a deployment of its own: such a call has a receipt and is not among the refused ones.
 */
export async function startFullDemo(): Promise<Demo> {
  const demo = await startDemo({ world: HOOK_WORLD });
  const { harness, manage, account, keys } = demo;
  const resource = await addPeople(harness, manage, { account, secret: keys[2]!.secret });
  const stop = async (): Promise<void> => {
    await harness.stop();
    await resource.close();
  };
  return { ...demo, harness: { ...harness, stop } };
}

/** People with roles, an open invitation, a stored provider key, a webhook and an alert. Ends with the resource. */
async function addPeople(
  harness: Harness,
  manage: ManageClient,
  { account, secret }: { readonly account: string; readonly secret: string },
): Promise<CloudResource> {
  const { books, alerts } = harness.running;
  const accountId = parseId('acct_', account)!;
  const anna = await enrol(books, 'anna@example.org', { name: 'Anna Berg', isOperator: true });
  await enrol(books, 'bo@example.org', { name: 'Bo Lind', roles: [[accountId, 'owner']] });
  const cem = await enrol(books, 'cem@example.org', { name: 'Cem Aydin', roles: [[accountId, 'member']] });
  await enrol(books, 'dora@example.org', { name: 'Dora Silva', roles: [[accountId, 'viewer']] });
  await openSession(books, anna, { address: '203.0.113.7', userAgent: 'Firefox 150 on Linux' });
  await manage.put(`/accounts/${account}/members/${formatId('person_', cem)}`, {
    spend_cap_nanousd: '25000000000',
    window: 'month',
  });
  await manage.post('/invitations', { email: 'eva@example.org', account, role: 'member' });
  const resource = await startResource(PROVIDER_KEY);
  await manage.put(`/accounts/${account}/provider-keys/cloud`, { api_key: PROVIDER_KEY, base_url: resource.baseUrl });
  const expires_at = Math.floor(Date.now() / 1000) + 90 * 86_400;
  await manage.post('/management-keys', {
    account,
    name: 'billing-export',
    role: 'viewer',
    read_only: true,
    expires_at,
  });
  await manage.post('/management-keys', { account, name: 'onboarding', role: 'owner', expires_at });
  await manage.put('/webhooks/pager', { account, url: 'https://hooks.example.com/tollgate', events: ['alert.*'] });
  await manage.patch(`/accounts/${account}/alert-settings`, { balance_below_nanousd: '200000000000' });
  await manage.post(`/accounts/${account}/credits`, { amount_nanousd: '25000000000', reference: 'invoice-1002' });
  await manage.post(`/accounts/${account}/credits`, {
    amount_nanousd: '-5000000000',
    reference: 'correction-7',
    note: 'Paid twice',
  });
  const { data } = await manage.get(`/receipts?account=${account}&model=sim-claude&limit=1`);
  await manage.post(`/receipts/${data[0].id}/refund`, {
    reference: 'ticket-318',
    note: 'Host answered in the wrong language',
  });
  await submitJobs(harness, secret);
  await alerts.look();
  return resource;
}

/** Three that run at once, and one that waits for the night. */
async function submitJobs(harness: Harness, secret: string): Promise<void> {
  const submit = async (custom_id: string, more: object): Promise<void> => {
    const messages = [{ role: 'user', content: `Summarize ${custom_id}.` }];
    const body = { model: 'sim-gpt-mini', max_tokens: 200, messages };
    const response = await fetch(`${harness.url}/v1/jobs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ endpoint: '/v1/chat/completions', custom_id, body, ...more }),
    });
    if (response.status !== 202) throw new Error(`A job was refused: ${await response.text()}`);
  };
  for (const id of ['ticket-1', 'ticket-2', 'ticket-3']) await submit(id, {});
  const notBefore = new Date(Date.now() + 8 * 3_600_000).toISOString();
  await submit('nightly-report', { not_before: notBefore, metadata: { team: 'reports', Status: 'urgent' } });
}
