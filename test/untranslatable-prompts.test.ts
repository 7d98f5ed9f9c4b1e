import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadSimulatedFile } from '../src/catalog/load.ts';
import { type Harness, startHarness } from './harness.ts';

/** A prompt that the host's wire cannot express is refused by the caller's name for it. */

type Fields = Readonly<Record<string, unknown>>;

const PATHS = { chat: '/v1/chat/completions', messages: '/v1/messages', responses: '/v1/responses' } as const;

/** All models may be called on the messages wire. */
const MODELS = loadSimulatedFile().models.map((row) => ({ ...row, caps: [...(row.caps ?? []), 'messages' as const] }));

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({ config: { models: MODELS } });
});
afterAll(async () => {
  await harness.expectCleanBooks();
  await harness.stop();
});

const USER = { role: 'user', content: 'Hello' };
const IMAGE = 'data:image/png;base64,iVBORw0KGgo=';
const OWN_IMAGE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };

function itemsOfCall(json: string, output: unknown): Fields {
  const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: json };
  return { input: [USER, call, { type: 'function_call_output', call_id: 'c1', output }] };
}

test.each<[string, keyof typeof PATHS, string, Fields, string]>([
  [
    'an image in a turn of the assistant',
    'messages',
    'sim-gpt',
    { max_tokens: 50, messages: [USER, { role: 'assistant', content: [OWN_IMAGE] }, USER] },
    'messages',
  ],
  [
    'a document in the result of a tool',
    'responses',
    'sim-gpt',
    itemsOfCall('{}', [{ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' }]),
    'input',
  ],
  ['arguments that are not an object', 'responses', 'sim-claude', itemsOfCall('[1]', 'x'), 'input'],
  [
    'an image in the instructions',
    'responses',
    'sim-claude',
    { input: [{ role: 'system', content: [{ type: 'input_image', image_url: IMAGE }] }, USER] },
    'input',
  ],
  [
    'an image in instructions after a turn',
    'chat',
    'sim-claude',
    { messages: [USER, { role: 'system', content: [{ type: 'image_url', image_url: { url: IMAGE } }] }] },
    'messages',
  ],
])('%s, from %s to %s', async (_what, caller, model, fields, param) => {
  const response = await harness.post({ model, ...fields }, {}, PATHS[caller]);
  const { error } = (await response.json()) as { error: { param: string } };
  expect([response.status, error.param]).toEqual([400, param]);
  expect(harness.sim.received()).toBe(0);
});
