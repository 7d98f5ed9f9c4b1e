import type { Pool } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BadClass, BadRequest, KeyHolder } from './bad-requests/bad-class.ts';
import { BROKEN_TEXTS } from './bad-requests/broken-text.ts';
import { type Body, goodBody } from './bad-requests/good-body.ts';
import { LACKING_MODELS } from './bad-requests/models.ts';
import { HARMLESS_VALUES, REFUSED_FEATURES } from './bad-requests/refused-features.ts';
import { type Answer, judge, openPool, type Refusal, send } from './bad-requests/send.ts';
import { WRONG_FIELDS } from './bad-requests/wrong-fields.ts';
import { WRONG_HTTP } from './bad-requests/wrong-http.ts';
import { WRONG_MESSAGES } from './bad-requests/wrong-messages.ts';
import { type Harness, type KeyOptions, type MintedKey, startHarness } from './harness.ts';
import { Random, seedFrom } from './random.ts';

const REQUESTS = 10_000;
const SENDERS = 16;
const SEED = seedFrom(process.env, 20_261_115);

const CLASSES: readonly BadClass[] = [
  ...WRONG_FIELDS,
  ...WRONG_MESSAGES,
  ...REFUSED_FEATURES,
  ...BROKEN_TEXTS,
  ...WRONG_HTTP,
];

const PLAIN = { model: 'модель', messages: [{ role: 'user', content: 'hello' }], tools: [], reasoning_effort: null };

/** What is wrong with each key; no call fits into a cap of one nanodollar. */
const KEYS: Readonly<Record<Exclude<KeyHolder, 'nobody'>, KeyOptions>> = {
  penniless: { creditNanousd: 0n },
  capped: { capNanousd: 1n },
  restricted: { models: ['another-model'] },
};

interface Job {
  readonly row: BadClass;
  /** Each request has its own seed, so that it does not depend on the others. */
  readonly seed: number;
}

let local: Harness;
let hosted: Harness;
const keys = new Map<KeyHolder, MintedKey>();
let localPool: Pool;
let hostedPool: Pool;
const refusals = new Map<BadClass, Refusal[]>(CLASSES.map((row) => [row, []]));

beforeAll(async () => {
  local = await startHarness({ config: { models: LACKING_MODELS } });
  hosted = await startHarness({ hosted: true });
  for (const [holder, options] of Object.entries(KEYS)) keys.set(holder as KeyHolder, await hosted.mint(options));
  localPool = openPool(local.url);
  hostedPool = openPool(hosted.url);
  const jobs = spread();
  await Promise.all(Array.from({ length: SENDERS }, () => work(jobs)));
});

afterAll(async () => {
  await Promise.all([localPool.close(), hostedPool.close()]);
  await Promise.all([local.stop(), hosted.stop()]);
});

/** The given number of requests: expensive ones as often as their class says, the others in turn. */
function spread(): Job[] {
  const rows = CLASSES.flatMap((row) => Array.from({ length: row.times ?? 0 }, () => row));
  const others = CLASSES.filter(({ times }) => times === undefined);
  for (let turn = 0; rows.length < REQUESTS; turn++) rows.push(others[turn % others.length]!);
  return rows.map((row, at) => ({ row, seed: SEED + at }));
}

async function work(jobs: Job[]): Promise<void> {
  for (let job = jobs.pop(); job !== undefined; job = jobs.pop()) {
    const { row, seed } = job;
    const request = row.make(new Random(seed));
    const answer = row.key === undefined ? await send(localPool, request) : await sendHosted(row.key, request);
    refusals.get(row)!.push(judge(row, request, answer));
  }
}

function sendHosted(holder: KeyHolder, request: BadRequest): Promise<Answer> {
  const secret = keys.get(holder)?.secret;
  if (secret === undefined) return send(hostedPool, request);
  return send(hostedPool, { ...request, headers: { ...request.headers, authorization: `Bearer ${secret}` } });
}

describe(`of ${REQUESTS} bad requests (TOLLGATE_SEED=${SEED})`, () => {
  test.each(CLASSES)('$name: $status $code', (row) => {
    const answers = refusals.get(row)!;
    expect(answers.length).toBeGreaterThan(0);
    expect(answers.flatMap(({ complaints }) => complaints).slice(0, 3)).toEqual([]);
  });

  test('all were sent, and two in five were valid JSON with one wrong field', () => {
    const sent = [...refusals].map(([row, { length }]) => ({ row, length }));
    const sum = (counts: typeof sent) => counts.reduce((total, { length }) => total + length, 0);
    expect(sum(sent)).toBe(REQUESTS);
    expect(sum(sent.filter(({ row }) => row.oneField))).toBeGreaterThanOrEqual(0.4 * REQUESTS);
  });

  test('each has a request id of its own', () => {
    for (const isHosted of [true, false]) {
      const rows = CLASSES.filter(({ key }) => (key !== undefined) === isHosted);
      const ids = rows.flatMap((row) => refusals.get(row)!.map(({ requestId }) => requestId));
      expect(new Set(ids).size).toBe(ids.length);
    }
  });

  test('none reached the host, none left a receipt or a hold, and nothing failed inside', async () => {
    for (const { sim, running, log, expectCleanBooks } of [local, hosted]) {
      expect(sim.received()).toBe(0);
      expect((await running.books.ledger.verify()).receipts).toBe(0);
      expect(running.books.ledger.openHolds).toBe(0);
      expect(log.filter(({ level }) => Number(level) >= 40 || level === 'error' || level === 'warn')).toEqual([]);
      await expectCleanBooks();
    }
  });
});

describe('what is not bad is answered', () => {
  async function expectAnswer(body: Body): Promise<void> {
    const { status, headers, text } = await send(localPool, { body: JSON.stringify(body) });
    expect([status, status === 200 ? '' : text, JSON.stringify(body)]).toEqual([200, '', expect.anything()]);
    const receipt = await local.receipt(String(headers['x-gateway-request-id']));
    expect(receipt.status).toBe('settled');
  }

  test('the same bodies with the one field put right', async () => {
    for (const [at, row] of CLASSES.filter(({ oneField }) => oneField).entries()) {
      await expectAnswer(row.make(new Random(SEED + at)).unspoiled!);
    }
  });

  test.each(Object.entries(HARMLESS_VALUES))('an empty value of the refused field %s', async (field, values) => {
    const random = new Random(SEED);
    for (const value of values) await expectAnswer({ ...goodBody(random), model: 'sim-gpt', [field]: value });
  });

  test('the deepest nesting, the longest key, the longest number', async () => {
    const body = goodBody(new Random(SEED));
    const depth = 63;
    const text = JSON.stringify({ ...body, ['k'.repeat(4096)]: 1, deep: '@', long: '#' })
      .replace('"@"', '['.repeat(depth) + ']'.repeat(depth))
      .replace('"#"', '7'.repeat(400));
    expect((await send(localPool, { body: text })).status).toBe(200);
  });

  test('a model whose name no header can hold', () => expectAnswer({ ...goodBody(new Random(SEED)), ...PLAIN }));

  test('and after all of them the books are exact', () => local.expectCleanBooks());
});
