import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { loadSimulatedFile } from '../src/catalog/load.ts';
import { type Harness, startHarness } from './harness.ts';

/** Images in the results of tools, for hosts of the chat wire, which take them in messages of the user only. */

/** All models may be called on the messages wire. */
const MODELS = loadSimulatedFile().models.map((row) => ({ ...row, caps: [...(row.caps ?? []), 'messages' as const] }));

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({ config: { models: MODELS } });
});
beforeEach(() => harness.sim.reset());
afterAll(async () => {
  await harness.expectCleanBooks();
  await harness.stop();
});

const URL = 'data:image/png;base64,iVBORw0KGgo=';
const SHOWN = [
  { type: 'text', text: 'A tool has returned this image:' },
  { type: 'image_url', image_url: { url: URL } },
];

const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'look', arguments: '{}' });
const output = (id: string, ...content: object[]) => ({ type: 'function_call_output', call_id: id, output: content });
const RESPONSES = {
  input: [
    { role: 'user', content: 'Look.' },
    call('c1'),
    call('c2'),
    output('c1', { type: 'input_text', text: 'here' }, { type: 'input_image', image_url: URL }),
    output('c2', { type: 'input_image', image_url: URL }),
    { role: 'user', content: 'And?' },
  ],
};
const use = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} });
const result = (id: string) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }],
});
const AND = { type: 'text', text: 'And?' };
const messages = (calls: object[], ...answers: object[][]) => ({
  max_tokens: 50,
  messages: [
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: calls },
    ...answers.map((content) => ({ role: 'user', content })),
  ],
});

async function sent(path: string, body: object): Promise<unknown[]> {
  const response = await harness.post({ model: 'sim-gpt', ...body }, {}, path);
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  const receipt = await harness.receipt(response.headers.get('x-gateway-request-id')!);
  expect(receipt.cost_nanousd!).toBeLessThan(receipt.held_nanousd);
  return (JSON.parse(harness.sim.calls.at(-1)!.body) as { messages: unknown[] }).messages.slice(2);
}

test('from the responses wire they follow the results, which keep their text', async () => {
  expect(await sent('/v1/responses', RESPONSES)).toEqual([
    { role: 'tool', tool_call_id: 'c1', content: 'here' },
    { role: 'tool', tool_call_id: 'c2', content: '' },
    { role: 'user', content: [...SHOWN, ...SHOWN] },
    { role: 'user', content: 'And?' },
  ]);
});

test('from the messages wire they come before what the user says in the same turn', async () => {
  expect(await sent('/v1/messages', messages([use('c1')], [result('c1'), AND]))).toEqual([
    { role: 'tool', tool_call_id: 'c1', content: '' },
    { role: 'user', content: [...SHOWN, AND] },
  ]);
});

test('they do not come between the results of one turn that are in several messages', async () => {
  const split = messages([use('c1'), use('c2')], [result('c1')], [result('c2')], [AND]);
  expect(await sent('/v1/messages', split)).toEqual([
    { role: 'tool', tool_call_id: 'c1', content: '' },
    { role: 'tool', tool_call_id: 'c2', content: '' },
    { role: 'user', content: [...SHOWN, ...SHOWN] },
    { role: 'user', content: 'And?' },
  ]);
});

test('they do not come between the results of one turn if the user says something between these', async () => {
  const split = messages([use('c1'), use('c2')], [result('c1')], [AND], [result('c2')]);
  expect(await sent('/v1/messages', split)).toEqual([
    { role: 'tool', tool_call_id: 'c1', content: '' },
    { role: 'tool', tool_call_id: 'c2', content: '' },
    { role: 'user', content: [...SHOWN, ...SHOWN] },
    { role: 'user', content: 'And?' },
  ]);
});

test('calls of one turn that are in several messages come before the results', async () => {
  const [asked, called, ...answers] = messages([use('c1')], [result('c1'), result('c2')]).messages;
  const split = [asked, called, { role: 'assistant', content: [use('c2')] }, ...answers];
  await sent('/v1/messages', { max_tokens: 50, messages: split });
  const { messages: written } = JSON.parse(harness.sim.calls.at(-1)!.body) as { messages: Record<string, unknown>[] };
  expect(written.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'user']);
  expect(written[1]!.tool_calls).toMatchObject([{ id: 'c1' }, { id: 'c2' }]);
});
