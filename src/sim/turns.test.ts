import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Json, SimCaller } from '../../test/sim-caller.ts';
import { functionTool, SimChat } from '../../test/sim-chat.ts';
import { parseJson } from '../json/json.ts';
import type { SimScript } from './script.ts';
import { startSim } from './sim.ts';
import type { Sim } from './sim-handle.ts';

let sim: Sim;
let chat: SimChat;

beforeAll(async () => {
  sim = await startSim();
  chat = new SimChat(sim);
});
beforeEach(() => sim.reset());
afterAll(() => sim.close());

const READ = functionTool('read', { path: { type: 'string' } });
const READ_NOTES = { name: 'read', arguments: { path: 'notes.txt' } };
const TURNS: SimScript = { turns: [{ calls: [READ_NOTES] }, { text: 'It says hello.' }], turnsAfter: 'in notes.txt' };
const QUESTION = { role: 'user', content: 'What is in notes.txt?' };

async function said(more: Json): Promise<unknown> {
  const { message } = (await chat.complete({ messages: [QUESTION], tools: [READ], ...more })).choices[0]!;
  const calls = message.tool_calls?.map((call) => [call.function.name, parseJson(call.function.arguments)]);
  return calls ?? message.content;
}

/** The history after the model has called `read` and got its result. */
const AFTER_READ = [
  QUESTION,
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'c1', content: 'hello' },
];

describe('a script of turns', () => {
  beforeEach(() => sim.script(TURNS));

  test('gives each turn its answer, however often and in whatever order it is asked', async () => {
    expect(await said({})).toEqual([['read', { path: 'notes.txt' }]]);
    expect(await said({ messages: AFTER_READ })).toBe('It says hello.');
    expect(await said({})).toEqual([['read', { path: 'notes.txt' }]]);
  });

  test('counts from the message that begins it, not from examples before it', async () => {
    const example = [
      { role: 'user', content: 'An example.' },
      { role: 'assistant', content: 'Fine.' },
    ];
    expect(await said({ messages: [...example, QUESTION] })).toEqual([['read', { path: 'notes.txt' }]]);
    expect(await said({ messages: [...example, ...AFTER_READ] })).toBe('It says hello.');
  });

  test('leaves calls beside the conversation alone: other prompts, no tools, tools forbidden, after the last turn', async () => {
    const words = expect.stringContaining('simulated answer');
    expect(await said({ messages: [{ role: 'user', content: 'Say hello.' }] })).toEqual(words);
    expect(await said({ tools: [functionTool('write', {})] })).toEqual(words);
    expect(await said({ tools: undefined })).toEqual(words);
    expect(await said({ tool_choice: 'none' })).toEqual(words);
    const after = [
      ...AFTER_READ,
      { role: 'assistant', content: 'It says hello.' },
      { role: 'user', content: 'Thanks.' },
    ];
    expect(await said({ messages: after })).toEqual(words);
  });

  test('works on the messages and responses wires, where two calls are one turn', async () => {
    const turns = [{ calls: [READ_NOTES, READ_NOTES] }, { text: 'Both read.' }];
    const schema = { type: 'object', properties: {} };
    const messages = new SimCaller<{ content: Json[] }>(sim, '/v1/messages', {}, { 'anthropic-version': '2023-06-01' });
    const asked = { model: 'sim-claude', max_tokens: 999, messages: [QUESTION], sim: { turns } };
    const message = await messages.complete({ ...asked, tools: [{ name: 'read', input_schema: schema }] });
    expect(message.content).toMatchObject([{ input: READ_NOTES.arguments }, { input: READ_NOTES.arguments }]);

    const responses = new SimCaller<{ output: Json[] }>(sim, '/v1/responses', {});
    const ask = { model: 'sim-responses', sim: { turns }, tools: [{ type: 'function', name: 'read' }] };
    const first = await responses.complete({ ...ask, input: [QUESTION] });
    const results = first.output.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'x' }));
    const second = await responses.complete({ ...ask, input: [QUESTION, ...first.output, ...results] });
    expect(second.output).toMatchObject([{ content: [{ text: 'Both read.' }] }]);
  });
});

describe('scripted calls', () => {
  test('are made if the request offers their tools, with a string sent as it is', async () => {
    sim.script({ calls: [READ_NOTES, { name: 'read', arguments: '{"path":' }] });
    const { message } = (await chat.complete({ tools: [READ] })).choices[0]!;
    expect(message.tool_calls!.map((call) => call.function.arguments)).toEqual(['{"path":"notes.txt"}', '{"path":']);
    expect((await chat.complete()).choices[0]!.message.content).toContain('simulated answer');
  });
});

test.each<[string, unknown]>([
  ['turns', { turns: [] }],
  ['turns', { turns: [{}] }],
  ['turns', { turns: [{ text: 'a', calls: [READ_NOTES] }] }],
  ['turns', { turns: [{ calls: [{ name: 'read' }] }] }],
  ['calls', { calls: [{ name: '', arguments: {} }] }],
  ['turnsAfter', { turnsAfter: 'x' }],
  ['turns', { turns: [{ text: 'a' }], text: 'b' }],
])('a script with wrong %s is refused: %j', async (fault, script) => {
  const { status, error } = await chat.refusal({ sim: script });
  expect([status, error.param]).toEqual([400, `sim.${fault}`]);
});
