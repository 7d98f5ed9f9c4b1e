import { expect, test } from 'vitest';
import { createClient } from '../src/index.ts';

/** The requests that the client makes for jobs, as docs of the route have them. */

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: unknown;
}

function clientOf(answer: object, headers: Record<string, string> = {}, options: { maxCost?: bigint } = {}) {
  const sent: Sent[] = [];
  const client = createClient({
    baseURL: 'http://gateway.example/v1',
    apiKey: 'k',
    ...options,
    fetch: async (input, init) => {
      const body = typeof init?.body === 'string' ? JSON.parse(init.body) : null;
      const path = String(input).replace('http://gateway.example', '');
      sent.push({ method: init?.method ?? 'GET', path, headers: new Headers(init?.headers), body });
      return new Response(`${JSON.stringify(answer)}\n`, { headers });
    },
  });
  return { client, sent };
}

const LINE = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: { model: 'm', messages: [] } };
const JOB = { endpoint: '/v1/chat/completions', body: { model: 'm', messages: [] } };

test('a job is created with its ceiling and a key, so that it can be sent again', async () => {
  const { client, sent } = clientOf({ id: 'job_1', status: 'queued', reserved_nanousd: 5, cost_nanousd: null });
  const job = await client.jobs.create(JOB, { maxCost: 9n });
  expect(job).toEqual({ id: 'job_1', status: 'queued', reserved_nanousd: 5n, cost_nanousd: null });
  expect(sent[0]).toMatchObject({ method: 'POST', path: '/v1/jobs', body: JOB });
  expect(sent[0]!.headers.get('x-gateway-max-cost-nanousd')).toBe('9');
  expect(sent[0]!.headers.get('idempotency-key')).toMatch(/^tgc_/);
});

test('a job has the ceiling of the client, or its own if that is lower; a group has only its own', async () => {
  const { client, sent } = clientOf({}, {}, { maxCost: 7n });
  await client.jobs.create(JOB);
  await client.jobs.create(JOB, { maxCost: 9n });
  await client.jobs.create(JOB, { maxCost: 5n });
  await client.jobs.createGroup([LINE]);
  await client.jobs.createGroup([LINE], { maxCost: 9n });
  expect(sent.map(({ headers }) => headers.get('x-gateway-max-cost-nanousd'))).toEqual(['7', '7', '5', null, '9']);
});

test('the other calls have their routes', async () => {
  const { client, sent } = clientOf({});
  const { jobs } = client;
  await jobs.get('job_1', { waitSeconds: 30 });
  await jobs.list({ status: 'queued', limit: 5 });
  await jobs.cancel('job_1');
  await jobs.remove('job_1');
  await jobs.createGroup([LINE]);
  await jobs.group('grp_1');
  await jobs.groups({ after: 'grp_0', limit: 5 });
  await jobs.cancelGroup('grp_1');
  for await (const result of jobs.groupResults('grp_1')) expect(result).toBeDefined();
  for await (const result of jobs.groupResults('grp_1', { after: 'job_1' })) expect(result).toBeDefined();
  expect(sent.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /v1/jobs/job_1?wait=30',
    'GET /v1/jobs?status=queued&limit=5',
    'POST /v1/jobs/job_1/cancel',
    'DELETE /v1/jobs/job_1',
    'POST /v1/jobs/groups',
    'GET /v1/jobs/groups/grp_1',
    'GET /v1/jobs/groups?after=grp_0&limit=5',
    'POST /v1/jobs/groups/grp_1/cancel',
    'GET /v1/jobs/groups/grp_1/results?',
    'GET /v1/jobs/groups/grp_1/results?after=job_1',
  ]);
  for (const { headers } of sent) expect(headers.get('authorization')).toBe('Bearer k');
});

test('a group is a list of requests, or has terms beside them', async () => {
  const { client, sent } = clientOf({});
  await client.jobs.createGroup([LINE]);
  const group = { requests: [LINE], webhook: 'billing', metadata: { run: 'nightly' } };
  await client.jobs.createGroup(group);
  expect(sent.map(({ body }) => body)).toEqual([{ requests: [LINE] }, group]);
});

const RESULTS = ['eins', 'zwölf 💬', 'drei'].map((text, at) => ({
  id: `job_${at}`,
  custom_id: String(at),
  response: { status_code: 200, request_id: 'req_1', body: { text } },
  error: null,
}));
const RESULT_BYTES = new TextEncoder().encode(RESULTS.map((result) => `${JSON.stringify(result)}\n`).join(''));

/** A client whose answer comes in pieces of this size and then ends, or breaks off. */
function clientOfPieces(size: number, broken: Error | null = null) {
  const left: string[] = [];
  let at = 0;
  const fetch = async () =>
    new Response(
      new ReadableStream(
        {
          pull: (controller) => {
            const piece = RESULT_BYTES.slice(at, at + size);
            at += size;
            if (piece.length > 0) controller.enqueue(piece);
            else if (broken === null) controller.close();
            else controller.error(broken);
          },
          cancel: () => void left.push('cancelled'),
        },
        { highWaterMark: 0 },
      ),
    );
  return { client: createClient({ baseURL: 'http://gateway.example', fetch, retries: 0 }), left };
}

test.each([1, 7, 64, 10_000])('results of a group are read one by one from pieces of %i bytes', async (size) => {
  const read: unknown[] = [];
  for await (const result of clientOfPieces(size).client.jobs.groupResults('grp_1')) read.push(result);
  expect(read).toEqual(RESULTS);
});

test('results that break off are an error of the connection, after those that came', async () => {
  const { client } = clientOfPieces(50, new TypeError('terminated'));
  const read: string[] = [];
  const reading = (async () => {
    for await (const { id } of client.jobs.groupResults('grp_1')) read.push(id);
  })();
  await expect(reading).rejects.toMatchObject({ name: 'TollgateError', code: 'connection_error', retryable: true });
  expect(read).toEqual(RESULTS.map(({ id }) => id));
});

test('results that end in the middle of one, or are not JSON, are an error', async () => {
  const answers = ['{"id":"job_0"}\n{"id":"jo', '<html>\n'];
  const fetch = async () => new Response(answers.shift()!);
  const { jobs } = createClient({ baseURL: 'http://gateway.example', fetch, retries: 0 });
  const read: string[] = [];
  const readAll = async () => {
    for await (const { id } of jobs.groupResults('grp_1')) read.push(id);
  };
  await expect(readAll()).rejects.toMatchObject({ name: 'TollgateError', code: 'connection_error', retryable: true });
  expect(read).toEqual(['job_0']);
  await expect(readAll()).rejects.toMatchObject({ name: 'TollgateError' });
});

test('whoever leaves the results of a group does not receive the rest', async () => {
  const { client, left } = clientOfPieces(50);
  for await (const { id } of client.jobs.groupResults('grp_1')) if (id === 'job_0') break;
  expect(left).toEqual(['cancelled']);
});

test('results that the gateway refuses are an error with its code', async () => {
  const fetch = async () => Response.json({ error: { message: 'Wait.', code: 'job_not_finished' } }, { status: 409 });
  const { jobs } = createClient({ baseURL: 'http://gateway.example', fetch, retries: 0 });
  await expect(jobs.groupResults('grp_1')[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    status: 409,
    code: 'job_not_finished',
  });
});

test('a result has the receipt of its call', async () => {
  const headers = { 'x-gateway-request-id': 'req_1', 'x-gateway-cost-nanousd': '7' };
  const { client } = clientOf({ id: 'x' }, headers);
  expect(await client.jobs.result('job_1')).toMatchObject({ data: { id: 'x' }, receipt: { costNanousd: 7n } });
});

test('leaves out members of a query that are undefined or null, as the cursor of a first page is', async () => {
  const { client, sent } = clientOf({});
  await client.jobs.list({ after: undefined, status: 'queued' });
  await client.jobs.list({ after: null, status: 'queued' });
  expect(sent.map(({ path }) => path)).toEqual(['/v1/jobs?status=queued', '/v1/jobs?status=queued']);
});

test('a job whose acceptance was cut off is sent again under the same key', async () => {
  const keys: (string | null)[] = [];
  const client = createClient({
    baseURL: 'http://gateway.example',
    wait: async () => {},
    fetch: async (_input, init) => {
      keys.push(new Headers(init?.headers).get('idempotency-key'));
      const cut = new ReadableStream({ start: (controller) => controller.error(new TypeError('terminated')) });
      return new Response(keys.length === 1 ? cut : '{"id":"job_1"}');
    },
  });
  expect(await client.jobs.create(JOB)).toEqual({ id: 'job_1' });
  expect(keys).toEqual([keys[0], keys[0]]);
});

test('a page in place of an answer is an error that asks about the address', async () => {
  const fetch = async () => new Response('<html>Welcome</html>');
  const client = createClient({ baseURL: 'http://gateway.example', fetch });
  const notJson = {
    name: 'TollgateError',
    code: 'no_receipt',
    message: 'The response is not JSON. Is `baseURL` a Tollgate gateway?',
    cause: expect.any(SyntaxError),
  };
  await expect(client.balance()).rejects.toMatchObject(notJson);
  await expect(client.jobs.create(JOB)).rejects.toMatchObject(notJson);
  const noReceipt = { code: 'no_receipt', message: expect.stringContaining('no receipt. Is `baseURL` a Tollgate') };
  await expect(client.chat({ model: 'm', messages: [] })).rejects.toMatchObject(noReceipt);
});

test("an error of the gateway's own routes has the id of the request, which support asks for", async () => {
  const headers = { 'x-gateway-request-id': 'req_7', 'x-gateway-cost-nanousd': '0' };
  const fetch = async () =>
    Response.json({ error: { message: 'No.', code: 'insufficient_quota' } }, { status: 402, headers });
  const client = createClient({ baseURL: 'http://gateway.example', fetch });
  await expect(client.jobs.create(JOB)).rejects.toMatchObject({ status: 402, requestId: 'req_7' });
  await expect(client.balance()).rejects.toMatchObject({ requestId: 'req_7' });
});
