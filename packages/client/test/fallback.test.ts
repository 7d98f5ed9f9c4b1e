import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type CallStream,
  type ChatCompletionChunk,
  type Client,
  createClient,
  FallbackError,
  fallback,
  type Member,
  TollgateError,
  usd,
} from '../src/index.ts';
import { type Behaviour, FakeGateway } from './fake-gateway.ts';

/** The rules of a chain as a table: every failure at every place, whole and streamed. */

let gateway: FakeGateway;
let client: Client;
const wait = async () => {};
beforeAll(async () => {
  gateway = await FakeGateway.start();
  client = createClient({ baseURL: gateway.url, apiKey: 'k', wait });
});
afterAll(() => gateway.stop());

const MODELS = ['first', 'middle', 'last'];
const PLACES = [1, 2, 3];
const MODES = ['whole', 'stream'] as const;
type Mode = (typeof MODES)[number];
const BUDGET = usd('0.10');
const messages = [{ role: 'user', content: 'Hi' }];

interface Row {
  readonly name: string;
  readonly failure: Behaviour;
  readonly advances: boolean;
  /** The failure exists in one kind of call only. */
  readonly only?: Mode;
}

function status(status: number, advances: boolean, more: { code?: string; final?: true; cost?: bigint } = {}): Row {
  const { code = '', final } = more;
  const name = `status ${status} ${code}${final === true ? ', with x-should-retry: false' : ''}`;
  return { name, failure: { kind: 'status', status, ...more }, advances };
}

const ROWS: readonly Row[] = [
  ...[408, 425, 429, 500, 502, 503, 504, 529].map((code) => status(code, true)),
  status(409, true, { code: 'idempotency_in_progress' }),
  status(409, false, { code: 'idempotency_finished', final: true }),
  // Known by the status alone, also without the header of the gateway.
  ...[400, 401, 402, 403, 404, 413, 415, 422].map((code) => status(code, false)),
  ...['cost_ceiling_exceeded', 'key_spend_cap_exceeded', 'insufficient_quota'].map((code) =>
    status(402, false, { code, final: true }),
  ),
  status(504, false, { code: 'host_timeout', final: true, cost: 5n }),
  status(502, false, { code: 'host_failed', final: true, cost: 7n }),
  { name: 'a connection that is reset', failure: { kind: 'reset' }, advances: true },
  { name: 'a reset after the call was charged', failure: { kind: 'reset', cost: 11n }, advances: true },
  { name: 'a response that breaks off', failure: { kind: 'cut', cost: 13n }, advances: true },
  { name: 'an error before content', failure: { kind: 'error event', cost: 17n }, advances: true, only: 'stream' },
  {
    name: 'a timeout of the host before content',
    failure: { kind: 'error event', code: 'host_timeout' },
    advances: false,
    only: 'stream',
  },
  {
    name: 'a refusal inside a stream',
    failure: { kind: 'error event', type: 'invalid_request_error' },
    advances: false,
    only: 'stream',
  },
];

function ask(member: Member, mode: Mode) {
  const request = { model: member.model, messages };
  return mode === 'whole' ? client.chat(request, member) : client.chat.stream(request, member);
}

/** Members before the place fail retryably, the one at the place as the row says, those after it answer. */
function play(place: number, failure: Behaviour): void {
  gateway.play(({ model }) => {
    const at = MODELS.indexOf(model) + 1;
    if (at < place) return { kind: 'status', status: 503 };
    return at === place ? failure : { kind: 'answer', cost: 1000n };
  });
}

const modelsAsked = () => gateway.requests.map(({ model }) => model);

/** The chain to its end: the answer, or the error that it ended with. */
async function chainOf(mode: Mode) {
  const options = { budget: BUDGET, wait };
  const made = await fallback(MODELS, (member) => ask(member, mode), options).catch((error: FallbackError) => error);
  if (mode === 'stream' && !(made instanceof FallbackError)) await readToEnd(made.data);
  return made;
}

async function readToEnd(stream: unknown): Promise<ChatCompletionChunk[]> {
  const events: ChatCompletionChunk[] = [];
  for await (const event of stream as CallStream<ChatCompletionChunk>) events.push(event);
  return events;
}

describe.each(MODES)('%s', (mode) => {
  describe.each(ROWS.filter(({ only = mode }) => only === mode))('$name', ({ failure, advances }) => {
    test.each(PLACES)(`${advances ? 'advances' : 'stops'} the chain at place %i`, async (place) => {
      play(place, failure);
      const made = await chainOf(mode);
      const isLast = place === MODELS.length;
      const answers = advances && !isLast;
      expect(made instanceof FallbackError).toBe(!answers);
      const tried = MODELS.slice(0, answers ? place + 1 : place);
      expect(made.attempts.map(({ model }) => model)).toEqual(tried);
      // Only the last member is asked again, and only if that can help.
      expect(modelsAsked()).toEqual([...tried, ...(advances && isLast ? ['last', 'last'] : [])]);
      expect(made.spent).toBe(gateway.charged);
      expect(made.receipts.reduce((sum, { costNanousd }) => sum + costNanousd!, 0n)).toBe(made.spent);
      if (!(made instanceof FallbackError)) expect(made.model).toBe(MODELS[place]);
    });
  });
});

describe.each(['late error', 'late cut'] as const)('a stream with a %s after content', (kind) => {
  test.each(PLACES)('is not restarted elsewhere at place %i', async (place) => {
    play(place, { kind, cost: 19n });
    const answer = await fallback(MODELS, (member) => ask(member, 'stream'), { budget: BUDGET, wait });
    const events: object[] = [];
    const read = async () => {
      for await (const event of answer.data as CallStream<object>) events.push(event);
    };
    const failed = await read().catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(TollgateError);
    expect(failed).toMatchObject({ retryable: false, receipt: { costNanousd: 19n } });
    expect(events).toHaveLength(2);
    expect(modelsAsked()).toEqual(MODELS.slice(0, place));
    expect(answer.spent).toBe(gateway.charged);
  });
});

test.each(MODES)('an abort stops the chain: %s', async (mode) => {
  const abort = new AbortController();
  gateway.play(() => {
    abort.abort();
    return { kind: 'status', status: 503 };
  });
  const made = fallback(MODELS, (member) => ask(member, mode), { signal: abort.signal });
  await expect(made).rejects.toMatchObject({ name: 'AbortError' });
  expect(modelsAsked()).toEqual(['first']);
});

test('an error of the callback itself stops the chain, and what was spent is known', async () => {
  gateway.play(() => ({ kind: 'answer', cost: 3n }));
  const made = fallback(MODELS, async (member) => {
    await ask(member, 'whole');
    throw new RangeError('a bug');
  });
  await expect(made).rejects.toMatchObject({ spent: 3n, cause: expect.any(RangeError) });
  expect(modelsAsked()).toEqual(['first']);
});

test('members after the first name it and their place, each with a key of its own that its retries keep', async () => {
  gateway.play(() => ({ kind: 'status', status: 503 }));
  const made = fallback(MODELS, (member) => ask(member, 'whole'), { chain: 'plan-7', wait });
  await expect(made).rejects.toMatchObject({ status: 503, chain: 'plan-7' });
  expect(gateway.requests.map(({ chain, firstModel }) => [chain, firstModel])).toEqual([
    ['plan-7;1', null],
    ['plan-7;2', 'first'],
    ...Array(3).fill(['plan-7;3', 'first']),
  ]);
  const keys = gateway.requests.map(({ key }) => key);
  expect(new Set(keys).size).toBe(3);
  expect(new Set(keys.slice(2)).size).toBe(1);
});

test.each([
  [1, 'The chain ended at first; 1 attempt cost 0.000000007 USD. '],
  [2, 'The chain ended at middle; 2 attempts cost 0.000000007 USD. '],
])('the error of a chain that ends at place %i says so, and what it cost', async (place, text) => {
  play(place, { kind: 'status', status: 502, code: 'host_failed', final: true, cost: 7n });
  const failed = await fallback(MODELS, (member) => ask(member, 'whole'), { wait }).catch(String);
  expect(failed).toContain(text);
});

test('waits as long as the last member asks for, and does not wait for the others', async () => {
  gateway.play(() => ({ kind: 'status', status: 429 }));
  const waits: number[] = [];
  const patient = createClient({ baseURL: gateway.url, wait: async (ms) => void waits.push(ms) });
  const made = fallback(MODELS, (member) => patient.chat({ model: member.model, messages }, member));
  await expect(made).rejects.toThrow(FallbackError);
  expect(waits).toEqual([1000, 1000]);
});

test('gives each attempt to onAttempt, the answer too', async () => {
  play(1, { kind: 'status', status: 503 });
  const seen: unknown[] = [];
  const onAttempt = ({ model, error }: { model: string; error: unknown }) => void seen.push([model, error]);
  const answer = await fallback(MODELS, (member) => ask(member, 'whole'), { onAttempt });
  expect(seen).toEqual([
    ['first', expect.any(TollgateError)],
    ['middle', undefined],
  ]);
  expect(answer.data).toMatchObject({ choices: [{ message: { content: 'Hello' } }] });
});

test.each([0, 100])('refuses a chain of %i members', async (count) => {
  await expect(fallback(Array(count).fill('m'), () => 1)).rejects.toThrow(TypeError);
});
