import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';

/** Tool loops with a chat host that signs its calls and wants the signatures back. */

type Json = Record<string, unknown>;

const PLACEHOLDER = { maker: { thought_signature: 'unsigned' } };
const SIGNATURE = { maker: { thought_signature: 'c2lnbmVkIGJ5IG1lLg==' } };
let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({ row: { quirks: { seals: 'maker', unsignedCall: PLACEHOLDER } } });
});
afterAll(async () => {
  await harness.settled();
  await harness.expectCleanBooks();
  await harness.stop();
});

const call = (id: string, more: Json = {}): Json => ({
  id,
  type: 'function',
  function: { name: 'open', arguments: `{"file":"${id}"}` },
  ...more,
});
/** As such hosts do it: only the first of several calls is signed. */
const CALLS = [call('a', { extra_content: SIGNATURE }), call('b')];
const USAGE = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };

function hostAnswers(stream: boolean): void {
  const choice = { index: 0, finish_reason: 'tool_calls' };
  const head = { id: 'c', created: 1, model: 'm', usage: USAGE };
  const delta = { role: 'assistant', tool_calls: CALLS.map((one, index) => ({ ...one, index })) };
  const text = stream
    ? `data: ${JSON.stringify({ ...head, choices: [{ ...choice, delta }] })}\n\ndata: [DONE]\n\n`
    : JSON.stringify({ ...head, choices: [{ ...choice, message: { role: 'assistant', tool_calls: CALLS } }] });
  const contentType = stream ? 'text/event-stream' : 'application/json';
  harness.sim.script({ raw: { contentType, base64: Buffer.from(text).toString('base64') } }, { times: 1 });
}

const TOOL = { type: 'function', name: 'open', parameters: { type: 'object', properties: {} }, strict: false };
const QUESTION = { role: 'user', content: 'Open both.' };

async function respond(input: unknown[], stream: boolean): Promise<Json[]> {
  const body = { model: 'sim-gpt', tools: [TOOL], input, stream, include: ['reasoning.encrypted_content'] };
  const client = harness.openai();
  if (!stream) return ((await client.responses.create(body as never)) as object as { output: Json[] }).output;
  const final = await client.responses.stream(body as never).finalResponse();
  return final.output as object[] as Json[];
}

const sentCalls = (): Json[] => {
  const { messages } = JSON.parse(harness.sim.calls.at(-1)!.body) as { messages: Json[] };
  return messages.find(({ role }) => role === 'assistant')!.tool_calls as Json[];
};

const resultsOf = (output: readonly Json[]): Json[] =>
  output
    .filter(({ type }) => type === 'function_call')
    .map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'done' }));

describe.each([false, true])('a client of the responses wire, stream %s,', (stream) => {
  test('sends the signature back as the reasoning that it got', async () => {
    hostAnswers(stream);
    const output = await respond([QUESTION], stream);
    expect(output.map(({ type }) => type)).toEqual(['reasoning', 'function_call', 'function_call']);
    await respond([QUESTION, ...output, ...resultsOf(output)], stream);
    expect(sentCalls().map(({ extra_content: signature }) => signature)).toEqual([SIGNATURE, undefined]);
  });

  test('that drops reasoning goes on with the placeholder of the host', async () => {
    hostAnswers(stream);
    const output = (await respond([QUESTION], stream)).filter(({ type }) => type !== 'reasoning');
    await respond([QUESTION, ...output, ...resultsOf(output)], stream);
    expect(sentCalls().map(({ extra_content: signature }) => signature)).toEqual([PLACEHOLDER, undefined]);
  });
});

describe('a client of the same wire', () => {
  const loop = (calls: readonly Json[]) => ({
    model: 'sim-gpt',
    tools: [{ type: 'function', function: { name: 'open', parameters: TOOL.parameters } }],
    messages: [
      QUESTION,
      { role: 'assistant', content: null, tool_calls: calls },
      ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'done' })),
    ],
  });

  test('sends the signature back as it is', async () => {
    expect((await harness.post(loop(CALLS))).status).toBe(200);
    expect(sentCalls()).toEqual(CALLS);
  });

  test('that drops it goes on with the placeholder of the host', async () => {
    expect((await harness.post(loop([call('a'), call('b')]))).status).toBe(200);
    expect(sentCalls()).toEqual([call('a', { extra_content: PLACEHOLDER }), call('b')]);
  });
});

test('a signature goes to no other vendor’s host', async () => {
  hostAnswers(false);
  const output = await respond([QUESTION], false);
  const input = [QUESTION, ...output, ...resultsOf(output)];
  const other = await startHarness();
  try {
    const response = await other.post({ model: 'sim-gpt', tools: [TOOL], input }, {}, '/v1/responses');
    expect(response.status).toBe(200);
    expect(other.sim.calls.at(-1)!.body).not.toContain(SIGNATURE.maker.thought_signature);
    expect(other.sim.calls.at(-1)!.body).not.toContain('extra_content');
  } finally {
    await other.stop();
  }
});
