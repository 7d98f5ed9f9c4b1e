import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadSimulatedFile } from '../src/catalog/load.ts';
import { type Harness, startHarness } from './harness.ts';
import { eventsOf } from './raw-client.ts';

/** Reasoning of a model that signs nothing, in a conversation of the messages wire that goes on with another model. */

interface Block {
  readonly type: string;
  readonly thinking?: string;
  readonly signature?: string;
}

/** All models may be called on the messages wire. */
const MODELS = loadSimulatedFile().models.map((row) => ({ ...row, caps: [...(row.caps ?? []), 'messages' as const] }));
const QUESTION = { role: 'user', content: 'What is seven times eight?' };
const ASK = { max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 2000 } };

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({ config: { models: MODELS } });
});
afterAll(async () => {
  await harness.settled();
  await harness.expectCleanBooks();
  await harness.stop();
});

function post(model: string, messages: readonly object[], stream = false): Promise<Response> {
  return harness.post({ model, ...ASK, messages, stream }, {}, '/v1/messages');
}

async function answered(): Promise<Block[]> {
  const { content } = (await (await post('sim-gpt', [QUESTION])).json()) as { content: Block[] };
  expect(content.map(({ type }) => type)).toEqual(['thinking', 'text']);
  return content;
}

test('it is not sent to hosts of this wire, which refuse reasoning without a signature', async () => {
  const content = await answered();
  const response = await post('sim-claude', [QUESTION, { role: 'assistant', content }, QUESTION]);
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  expect(JSON.parse(harness.sim.calls.at(-1)!.body).messages[1].content).toEqual(content.slice(1));
});

test('it goes back to a host of the chat wire as it was', async () => {
  const content = await answered();
  const response = await post('sim-gpt', [QUESTION, { role: 'assistant', content }, QUESTION]);
  expect(response.status).toBe(200);
  expect(JSON.parse(harness.sim.calls.at(-1)!.body).messages[1]).toMatchObject({
    reasoning_content: content[0]!.thinking,
  });
});

test('its signature is streamed once, and is that of a buffered response', async () => {
  const [{ signature } = { signature: undefined }] = await answered();
  const events = eventsOf(await (await post('sim-gpt', [QUESTION], true)).text()).map((event) => JSON.parse(event));
  const sent = events.filter(({ delta }) => delta?.type === 'signature_delta').map(({ delta }) => delta.signature);
  expect(sent).toEqual([signature]);
});
