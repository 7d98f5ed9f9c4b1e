import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ChatCompletion,
  type Client,
  createClient,
  FallbackError,
  fallback,
  type GroupResult,
  type Job,
  type JobGroup,
  type Member,
  type Page,
  TollgateError,
  usd,
} from '../packages/client/src/index.ts';
import { verifyReceipt } from '../packages/client/src/verify.ts';
import { createWebhooks } from '../packages/client/src/webhooks.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';

/** The client library and a real gateway. */

let harness: Harness;
let key: MintedKey;
let client: Client;
const wait = async () => {};
beforeAll(async () => {
  harness = await startHarness();
  key = await harness.mint();
  client = createClient({ baseURL: `${harness.url}/v1/`, apiKey: key.secret, wait });
});
afterAll(async () => {
  await harness.expectCleanBooks();
  await harness.stop();
});

const messages = [{ role: 'user', content: 'Hello' }];
const ASK = { model: 'sim-gpt', messages };

/** Everything that is known of a receipt, from the ledger. */
async function expectInLedger(receipt: { requestId: string; costNanousd: bigint | null }): Promise<void> {
  const stored = await client.receipt(receipt.requestId);
  expect(stored).toMatchObject({ state: 'settled', costNanousd: receipt.costNanousd });
  expect(receipt.costNanousd).toBeGreaterThan(0n);
  const { fresh, cacheWrite, cacheRead, output } = stored.components!;
  expect(fresh + cacheWrite + cacheRead + output).toBe(receipt.costNanousd);
}

describe('whole calls', () => {
  const CALLS = {
    chat: () => client.chat(ASK),
    messages: () => client.messages({ model: 'sim-claude', max_tokens: 50, messages }),
    responses: () => client.responses({ model: 'sim-responses', input: 'Hello' }),
    completions: () => client.completions({ model: 'sim-gpt', prompt: 'Hello' }),
    embed: () => client.embed({ model: 'sim-embed', input: 'Hello' }),
    decide: () =>
      client.decide({
        model: 'sim-decide',
        state: 'x',
        questions: { angry: { type: 'noul', instructions: 'Angry?' } },
      }),
    'decide, with a list of questions': () =>
      client.decide({
        model: 'sim-decide',
        input: 'x',
        questions: [{ type: 'predicate', name: 'angry', instructions: 'Angry?' }],
      }),
  };

  test.each(Object.entries(CALLS))('%s gives data and the receipt of the ledger', async (_name, call) => {
    const { data, receipt } = await call();
    expect(data).toMatchObject({ model: expect.any(String) });
    await expectInLedger(receipt);
  });
});

describe('streams', () => {
  const STREAMS = {
    chat: () => client.chat.stream(ASK),
    messages: () => client.messages.stream({ model: 'sim-claude', max_tokens: 50, messages }),
    responses: () => client.responses.stream({ model: 'sim-responses', input: 'Hello' }),
    completions: () => client.completions.stream({ model: 'sim-gpt', prompt: 'Hello' }),
  };

  test.each(Object.entries(STREAMS))('%s gives events, then the receipt of the ledger', async (_name, call) => {
    const stream = call();
    const events: object[] = [];
    for await (const event of stream) events.push(event);
    expect(events.length).toBeGreaterThan(2);
    expect(events).not.toContainEqual(expect.objectContaining({ type: 'gateway_receipt' }));
    await expectInLedger(await stream.receipt);
  });

  test('give the text of the answer', async () => {
    let text = '';
    for await (const { choices } of client.chat.stream(ASK)) text += choices[0]?.delta.content ?? '';
    const { data } = await client.chat(ASK);
    expect(text).toBe(data.choices[0]!.message.content);
  });

  test('that are left have a receipt too', async () => {
    const stream = client.chat.stream(ASK);
    for await (const event of stream) if (event.choices[0]?.delta.content) break;
    expect(await stream.receipt).toMatchObject({ effectiveModel: 'sim-gpt' });
    await harness.settled();
  });

  test('that fail in the middle throw, with the receipt', async () => {
    const stream = client.chat.stream({ ...ASK, sim: { words: 20, errorAfterChunks: 5 } });
    const read = async () => {
      for await (const _ of stream);
    };
    await expect(read()).rejects.toThrow(TollgateError);
  });
});

describe('errors', () => {
  test('say what was refused, and that it cost nothing', async () => {
    const error = await client.chat({ ...ASK, model: 'no-such-model' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
      retryable: false,
      receipt: { costNanousd: 0n, requestedModel: 'no-such-model', effectiveModel: null },
    });
  });

  test('a call that could cost more than the ceiling is refused', async () => {
    const careful = createClient({ baseURL: harness.url, apiKey: key.secret, maxCost: usd('0.000001') });
    await expect(careful.chat(ASK)).rejects.toMatchObject({ status: 402, code: 'cost_ceiling_exceeded' });
    await expect(client.chat(ASK, { maxCost: 1n })).rejects.toMatchObject({ status: 402 });
  });

  test('a gateway that cannot be reached is a connection error', async () => {
    // The platform refuses port 1 by itself, so this one must be another.
    const nowhere = createClient({ baseURL: 'http://127.0.0.1:2', wait });
    await expect(nowhere.chat(ASK)).rejects.toMatchObject({
      code: 'connection_error',
      status: null,
      retryable: true,
      message: 'The connection to the gateway failed: connect ECONNREFUSED 127.0.0.1:2',
    });
  });

  test.each([
    [
      'several addresses',
      new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) }),
      'ECONNREFUSED',
    ],
    ['no cause', new TypeError('Failed to fetch'), 'Failed to fetch'],
    ['something that is not an error', 'offline', 'offline'],
  ])('a connection error says why, with %s', async (_name, thrown, reason) => {
    const failing = createClient({
      baseURL: 'http://gateway.example',
      retries: 0,
      fetch: () => Promise.reject(thrown),
    });
    const message = `The connection to the gateway failed: ${reason}`;
    await expect(failing.balance()).rejects.toMatchObject({ code: 'connection_error', message });
  });

  test('an answer of something else has no receipt, and the error says so', async () => {
    const sim = createClient({ baseURL: harness.sim.url });
    await expect(sim.chat(ASK)).rejects.toMatchObject({ code: 'no_receipt' });
  });
});

test('a lost response is asked for again under the same key, and paid for once', async () => {
  const { secret } = await harness.mint();
  let calls = 0;
  const lossy = createClient({
    baseURL: harness.url,
    apiKey: secret,
    wait,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (++calls > 1) return response;
      await response.text();
      throw new TypeError('lost');
    },
  });
  const { receipt } = await lossy.chat(ASK);
  expect(calls).toBe(2);
  expect((await lossy.balance()).spent_nanousd).toBe(receipt.costNanousd);
});

describe("the gateway's own routes", () => {
  test('balance has exact amounts', async () => {
    const balance = await client.balance();
    expect(balance).toMatchObject({ currency: 'USD', unlimited: false });
    expect(balance.balance_nanousd + balance.spent_nanousd).toBe(usd('1'));
  });

  test('quote says what a call would hold', async () => {
    const quote = await client.quote('/v1/chat/completions', ASK);
    expect(quote.worst_case_nanousd).toBeGreaterThan(quote.likely_nanousd);
    expect(quote.fits).toEqual({ ceiling: true, cap: true, balance: true });
  });

  test('models and usage', async () => {
    expect((await client.models()).map(({ id }) => id)).toContain('sim-gpt');
    const { totals } = await client.usage({ group_by: 'model' });
    expect(totals.cost_nanousd).toBe((await client.balance()).spent_nanousd);
  });
});

test('the receipts of a key add up to what it has spent', async () => {
  await harness.settled();
  let sum = 0n;
  for await (const { costNanousd } of client.receipts({ limit: 3 })) sum += costNanousd!;
  expect(sum).toBe((await client.balance()).spent_nanousd);
});

/** The members that a type names, without those that it merely allows. */
type Named<T> = { readonly [Name in keyof T as string extends Name ? never : Name]: true };

describe('jobs', () => {
  const JOB = { endpoint: '/v1/chat/completions', body: ASK };

  test('are made later, with the answer and the receipt that the call would have had', async () => {
    const created = await client.jobs.create(JOB);
    expect(created.reserved_nanousd).toBeGreaterThan(0n);
    const ended = await client.jobs.get(created.id, { waitSeconds: 20 });
    expect(ended.status).toBe('succeeded');
    const { data, receipt } = await client.jobs.result<ChatCompletion>(created.id);
    expect(data.choices[0]!.message.content).toContain('simulated');
    expect(receipt.costNanousd).toBe(ended.cost_nanousd);
    expect((await client.jobs.list({ limit: 5 })).data.map(({ id }) => id)).toContain(created.id);
  });

  test('have every member that their types name', async () => {
    const body = { model: 'sim-gpt-mini', messages };
    const line = { custom_id: 'one', method: 'POST', url: JOB.endpoint, body };
    const group = await client.jobs.createGroup({ requests: [line], metadata: { run: 'nightly' } });
    const pages = [await client.jobs.list({ group: group.id, limit: 1 }), await client.jobs.groups({ limit: 1 })];
    const page: Named<Page<Job>> = { data: true, next: true };
    const counts: Named<JobGroup['counts']> = {
      ...{ total: true, waiting: true, running: true },
      ...{ succeeded: true, failed: true, cancelled: true, expired: true },
    };
    const ofJob: Named<Job> = {
      ...{ id: true, endpoint: true, status: true, finished_at: true, reserved_nanousd: true, cost_nanousd: true },
      ...{ request_id: true, custom_id: true, metadata: true, error: true, group: true },
    };
    const ofGroup: Named<JobGroup> = {
      ...{ id: true, status: true, finished_at: true, counts: true },
      ...{ reserved_nanousd: true, cost_nanousd: true, metadata: true },
    };
    for (const one of pages) expect(Object.keys(one)).toEqual(expect.arrayContaining(Object.keys(page)));
    expect(Object.keys(pages[0]!.data[0]!)).toEqual(expect.arrayContaining(Object.keys(ofJob)));
    expect(Object.keys(group)).toEqual(expect.arrayContaining(Object.keys(ofGroup)));
    expect(Object.keys(group.counts)).toEqual(Object.keys(counts));
    await client.jobs.get(pages[0]!.data[0]!.id, { waitSeconds: 20 });
  });

  test('of a group are created together, and their results are read one by one', async () => {
    const lines = ['one', 'two'].map((custom_id) => ({ custom_id, method: 'POST', url: JOB.endpoint, body: ASK }));
    const { id } = await client.jobs.createGroup(lines);
    const { data } = await client.jobs.list({ group: id });
    for (const job of data) await client.jobs.get(job.id, { waitSeconds: 20 });
    const read: GroupResult[] = [];
    for await (const result of client.jobs.groupResults(id)) read.push(result);
    expect(read.map(({ custom_id, response }) => [custom_id, response?.status_code])).toEqual([
      ['one', 200],
      ['two', 200],
    ]);
    for await (const { custom_id } of client.jobs.groupResults(id, { after: read[0]!.id }))
      expect(custom_id).toBe('two');
  });
});

test('a signed receipt and its refunds can be verified with the keys of the gateway', async () => {
  const { receipt } = await client.chat(ASK);
  const keys = await client.receiptKeys();
  const { content } = await verifyReceipt(await client.signedReceipt(receipt.requestId), keys);
  expect(content).toMatchObject({ id: receipt.requestId, cost_nanousd: String(receipt.costNanousd) });
  expect(await client.refunds(receipt.requestId)).toEqual([]);
  const withProof = client.signedReceipt(receipt.requestId, { proof: true, retries: 0 });
  await expect(withProof).rejects.toMatchObject({ status: 409, code: 'proof_unavailable' });
});

test('webhooks are created, shown, rotated, tested and removed', async () => {
  const webhooks = createWebhooks({ baseURL: harness.url });
  const created = await webhooks.put('client', { url: 'http://127.0.0.1:2/hook', events: ['job.*'] });
  expect(created).toMatchObject({ name: 'client', secret: expect.stringMatching(/^whsec_/) });
  expect(await webhooks.put('client', { url: 'http://127.0.0.1:2/other' })).toMatchObject({ secret: null });
  const { secret: _, ...shown } = created;
  const described = await webhooks.get('client');
  expect(Object.keys(described).toSorted()).toEqual(Object.keys(shown).toSorted());
  expect(await webhooks.list()).toMatchObject([{ name: 'client', url: 'http://127.0.0.1:2/other', events: null }]);
  expect((await webhooks.rotate('client', { grace_seconds: 60 })).secret).not.toBe(created.secret);
  const { id, type } = await webhooks.test('client');
  expect([type, (await webhooks.deliveries('client')).data[0]?.id]).toEqual(['webhook.test', id]);
  await webhooks.remove('client');
  await expect(webhooks.get('client')).rejects.toMatchObject({ code: 'webhook_not_found' });
});

describe('a chain', () => {
  const ask = (member: Member, more: object = {}) => client.chat({ ...ASK, model: member.model, ...more }, member);

  test('has a named fallback in the receipts of the gateway, and its sum', async () => {
    const failing = (member: Member) => ask(member, member.isLast ? {} : { sim: { status: 503 } });
    const answer = await fallback(['sim-gpt-mini', 'sim-gpt'], failing, { budget: usd('0.10'), wait });
    expect(answer).toMatchObject({ model: 'sim-gpt', spent: expect.any(BigInt) });
    const served = answer.receipts.at(-1)!;
    expect(served).toMatchObject({ requestedModel: 'sim-gpt-mini', effectiveModel: 'sim-gpt' });
    const stored = await client.chain(answer.chain);
    expect(stored[0]).toMatchObject({ requestId: served.requestId, requestedModel: 'sim-gpt-mini' });
    expect(stored.reduce((sum, { costNanousd }) => sum + costNanousd!, 0n)).toBe(answer.spent);
  });

  test('stops at a budget that is too small for a member', async () => {
    const made = fallback(['sim-gpt', 'sim-gpt-mini'], (member) => ask(member), { budget: 1n });
    await expect(made).rejects.toThrow(FallbackError);
    await expect(made).rejects.toMatchObject({ status: 402, attempts: [{ model: 'sim-gpt' }], spent: 0n });
  });
});
