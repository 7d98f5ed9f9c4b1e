import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BIN } from '../campaigns/programs.ts';
import { LIMITS } from '../src/limits.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { batchLine, CHAT, chatBody, JobCaller, type ResultLine } from './job-caller.ts';

let harness: Harness;
let key: MintedKey;
let caller: JobCaller;
let folder: string;

beforeAll(async () => {
  harness = await startHarness({ hosted: true });
  key = await harness.mint();
  caller = new JobCaller(harness, key.secret);
  folder = mkdtempSync(join(tmpdir(), 'tollgate-jobs-'));
});
afterAll(async () => {
  await harness.stop();
  rmSync(folder, { recursive: true });
});

const lines = (count: number) => Array.from({ length: count }, (_, at) => batchLine(`request-${at + 1}`));
const balance = async () =>
  (await (await harness.get('/v1/balance', { authorization: `Bearer ${key.secret}` })).json()) as Record<
    string,
    number
  >;

/** The program as a user starts it. */
async function tollgate(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(process.execPath, ['--no-warnings', BIN, 'jobs', ...args, '--url', harness.url], {
    cwd: folder,
    env: { ...process.env, TOLLGATE_API_KEY: key.secret, TOLLGATE_DATA: folder },
  });
  const text = { out: '', err: '' };
  child.stdout.on('data', (chunk) => (text.out += chunk));
  child.stderr.on('data', (chunk) => (text.err += chunk));
  const [code] = (await once(child, 'close')) as [number];
  return { code, ...text };
}

describe('a vendor’s batch file', () => {
  const FILE = [
    '{"custom_id": "request-1", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "sim-gpt-mini", "messages": [{"role": "system", "content": "You are a helpful assistant."},{"role": "user", "content": "Hello world!"}],"max_tokens": 1000}}',
    '{"custom_id": "request-2", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "sim-gpt-mini", "messages": [{"role": "system", "content": "You are an unhelpful assistant."},{"role": "user", "content": "Hello world!"}],"max_tokens": 1000}}',
    '{"custom_id": "embed-1", "method": "POST", "url": "/v1/embeddings", "body": {"model": "sim-embed", "input": "Hello world!"}}',
    '',
  ].join('\n');

  test('is submitted unchanged with the command, and its results have the form that its users expect', async () => {
    writeFileSync(join(folder, 'batch.jsonl'), FILE);
    const { code, err } = await tollgate('submit', 'batch.jsonl', '--wait', '--out', 'results.jsonl');
    expect([code, err]).toEqual([0, expect.stringContaining('succeeded')]);
    const results = readFileSync(join(folder, 'results.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as ResultLine);
    expect(results.map(({ custom_id }) => custom_id)).toEqual(['request-1', 'request-2', 'embed-1']);
    for (const result of results) {
      expect(Object.keys(result)).toEqual(['id', 'custom_id', 'response', 'error']);
      expect(Object.keys(result.response!)).toEqual(['status_code', 'request_id', 'body']);
      expect(result).toMatchObject({
        response: { status_code: 200, request_id: expect.stringMatching(/^req_/) },
        error: null,
      });
    }
    expect(results[0]!.response!.body).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant', content: expect.any(String) }, finish_reason: 'stop' }],
      usage: { prompt_tokens: expect.any(Number) },
    });
    expect(results[2]!.response!.body).toMatchObject({ object: 'list', data: [{ object: 'embedding' }] });
  });

  test('with a bad line is refused by the number of the line', async () => {
    writeFileSync(join(folder, 'bad.jsonl'), FILE.replace('/v1/embeddings', '/v1/images'));
    const { code, out, err } = await tollgate('submit', 'bad.jsonl');
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('Line 3: `url` must be one of');
  });
});

describe('a group', () => {
  test('is accepted whole, counts its jobs, and gives results in the order of its lines, from any of them on', async () => {
    const id = await caller.submitLines(lines(20));
    const ended = await caller.ended(id);
    expect(ended).toMatchObject({ object: 'job_group', status: 'finished', reserved_nanousd: 0 });
    expect(ended.counts).toMatchObject({ total: 20, waiting: 0, running: 0, succeeded: 20, failed: 0 });
    const results = await caller.results(id);
    expect(results.map(({ custom_id }) => custom_id)).toEqual(lines(20).map(({ custom_id }) => custom_id));
    expect(await caller.results(id, `?after=${results[14]!.id}`)).toEqual(results.slice(15));
    const jobs = await caller.ask('GET', `?group=${id}&limit=5`);
    expect(jobs.body.data).toMatchObject(results.slice(0, 5).map(({ id: job }) => ({ id: job, group: id })));
    const costs = ((await caller.ask('GET', `?group=${id}`)).body.data as { cost_nanousd: number }[]).map(
      ({ cost_nanousd }) => cost_nanousd,
    );
    expect(ended.cost_nanousd).toBe(costs.reduce((sum, cost) => sum + cost, 0));
  });

  test('refuses to go on after a job of another group, because nothing would follow', async () => {
    const [one, other] = [await caller.submitLines(lines(1)), await caller.submitLines(lines(1))];
    await caller.ended(one);
    await caller.ended(other);
    const [{ id }] = (await caller.results(other)) as [ResultLine];
    for (const after of [id, 'job_1']) {
      const results = await caller.ask('GET', `/groups/${one}/results?after=${after}`);
      expect([results.status, results.body]).toMatchObject([400, { error: { param: 'after' } }]);
      const listed = await caller.ask('GET', `?group=${one}&after=${after}`);
      expect([listed.status, listed.body]).toMatchObject([400, { error: { param: 'after' } }]);
    }
  });

  test('in one JSON object is the same', async () => {
    const body = { requests: lines(2), result_ttl_seconds: 60, metadata: { run: 'one' } };
    const accepted = await caller.ask('POST', '/groups', body);
    expect([accepted.status, accepted.headers.get('location')]).toEqual([202, `/v1/jobs/groups/${accepted.body.id}`]);
    expect(accepted.body).toMatchObject({ counts: { total: 2 }, metadata: { run: 'one' } });
    await caller.ended(accepted.body.id as string);
  });

  test('that could cost more than its ceiling, or than the balance, reserves nothing', async () => {
    const before = await balance();
    const text = lines(3)
      .map((line) => JSON.stringify(line))
      .join('\n');
    const type = { 'content-type': 'application/jsonl' };
    const ceiling = await caller.ask('POST', '/groups', text, { ...type, 'x-gateway-max-cost-nanousd': '1000' });
    expect([ceiling.status, ceiling.body]).toMatchObject([402, { error: { code: 'cost_ceiling_exceeded' } }]);
    const unknown = await caller.ask('POST', '/groups', text, { ...type, 'x-gateway-max-cost': '1000' });
    expect([unknown.status, unknown.body]).toMatchObject([
      400,
      { error: { code: 'invalid_header', message: expect.stringMatching(/^`x-gateway-max-cost` is/) } },
    ]);
    const poor = new JobCaller(harness, (await harness.mint({ creditNanousd: 100n })).secret);
    const refused = await poor.ask('POST', '/groups', text, type);
    expect([refused.status, refused.body]).toMatchObject([402, { error: { code: 'insufficient_quota' } }]);
    expect(await balance()).toMatchObject({ reserved_nanousd: before.reserved_nanousd });
    expect((await poor.ask('GET', '/groups')).body.data).toEqual([]);
  });

  test('is accepted once under one idempotency key, and its bytes decide whether it is the same', async () => {
    const text = lines(2)
      .map((line) => JSON.stringify(line))
      .join('\n');
    const headers = { 'content-type': 'application/jsonl', 'idempotency-key': 'group-once' };
    const first = await caller.ask('POST', '/groups', text, headers);
    const again = await caller.ask('POST', '/groups', text, headers);
    expect([first.status, again.status, again.body.id]).toEqual([202, 202, first.body.id]);
    const other = await caller.ask('POST', '/groups', text.replace('world', 'wörld'), headers);
    expect([other.status, other.body]).toMatchObject([422, { error: { code: 'idempotency_mismatch' } }]);
    await caller.ended(first.body.id as string);
  });

  test('has no results before it has ended, and is cancelled as a whole', async () => {
    const later = encodeURIComponent(new Date(Date.now() + 3_600_000).toISOString());
    const id = await caller.submitLines(lines(3), `?not_before=${later}`);
    expect((await balance()).reserved_nanousd).toBeGreaterThan(0);
    const early = await caller.ask('GET', `/groups/${id}/results`);
    expect([early.status, early.body]).toMatchObject([409, { error: { code: 'job_not_finished' } }]);
    await caller.ask('POST', `/groups/${id}/cancel`);
    expect(await caller.ended(id)).toMatchObject({ counts: { cancelled: 3 }, reserved_nanousd: 0, cost_nanousd: 0 });
    const results = await caller.results(id);
    expect(results.map(({ response, error }) => [response, error!.code])).toEqual(
      Array.from({ length: 3 }, () => [null, 'job_cancelled']),
    );
  });

  test('has results whose head can be read any number of times', async () => {
    const id = await caller.submitLines(lines(2));
    await caller.ended(id);
    for (let read = 0; read <= LIMITS.groupIntakesPerAccountMax; read++) {
      const { status, headers, body } = await caller.ask('HEAD', `/groups/${id}/results`);
      expect([status, headers.get('content-type'), body.text]).toEqual([200, 'application/jsonl; charset=utf-8', '']);
    }
    expect(await caller.results(id)).toHaveLength(2);
  });

  test('that breaks off leaves nothing behind', async () => {
    const groups = (await caller.ask('GET', '/groups')).body.data as unknown[];
    const head = `POST /v1/jobs/groups HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key.secret}\r\n`;
    const { connect } = await import('node:net');
    const socket = connect(Number(new URL(harness.url).port), '127.0.0.1');
    const half = `${JSON.stringify(batchLine('a'))}\n{"custom`;
    socket.write(`${head}content-type: application/jsonl\r\ncontent-length: ${half.length + 100}\r\n\r\n${half}`);
    await new Promise<void>((resolve) => socket.once('connect', () => setImmediate(resolve)));
    socket.destroy();
    await once(socket, 'close');
    const single = await caller.submit({ endpoint: CHAT, body: chatBody('Hello') });
    await caller.ended(single);
    expect((await caller.ask('GET', '/groups')).body.data).toHaveLength(groups.length);
  });
});
