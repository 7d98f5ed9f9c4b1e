import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { spliceResponse } from '../src/wires/responses/splice-response.ts';
import { type Harness, startHarness } from './harness.ts';
import { billFor, eventsIn, faultsOfStream, type Json, TERMS } from './responses-stream.ts';

/** Tools as coding agents send them on the responses wire, on hosts of every wire. */

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(() => harness.sim.reset());
afterAll(async () => {
  await harness.expectCleanBooks();
  await harness.stop();
});

const parameters = { type: 'object', properties: { target: { type: 'string' } }, required: ['target'] };
const TOOLS = [
  { type: 'function', name: 'run', description: 'Runs a command.', strict: false, parameters },
  {
    type: 'namespace',
    name: 'helpers_v1',
    description: 'Manages helpers.',
    tools: [
      { type: 'function', name: 'close', description: 'Closes one.', strict: false, defer_loading: true, parameters },
      { type: 'custom', name: 'note', description: 'Writes a note.' },
    ],
  },
  {
    type: 'custom',
    name: 'apply_patch',
    description: 'Edits files.',
    format: { type: 'grammar', syntax: 'lark', definition: 'start: "patch"' },
  },
];
const USER = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] };

/** Tools that an item adds, as newer models of one vendor get them. */
const ADDED = {
  type: 'additional_tools',
  role: 'developer',
  tools: [{ type: 'namespace', name: 'functions', description: '', tools: [{ type: 'custom', name: 'exec' }] }],
};
/** A search through tools that the client keeps back until they are needed. */
const SEARCH = {
  type: 'tool_search',
  execution: 'client',
  description: 'Finds tools.',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
};

/** One row per kind of tool: how it is forced, and the call that the caller must get. */
const KINDS = [
  {
    kind: 'a function inside a namespace',
    choice: { type: 'function', name: 'close', namespace: 'helpers_v1' },
    call: { type: 'function_call', name: 'close', namespace: 'helpers_v1', arguments: '{"target":"sample"}' },
    flatName: 'helpers_v1__close',
  },
  {
    kind: 'a custom tool',
    choice: { type: 'custom', name: 'apply_patch' },
    call: { type: 'custom_tool_call', name: 'apply_patch', input: 'sample' },
    flatName: 'apply_patch',
  },
  {
    kind: 'a custom tool inside a namespace',
    choice: { type: 'custom', name: 'note' },
    call: { type: 'custom_tool_call', name: 'note', namespace: 'helpers_v1', input: 'sample' },
    flatName: 'helpers_v1__note',
  },
];

async function ask(body: Json, stream: boolean): Promise<{ output: Json[]; response: Json; text: string }> {
  const answer = await harness.post({ tools: TOOLS, stream, ...body }, {}, '/v1/responses');
  const text = await answer.text();
  expect([answer.status, answer.status === 200 ? '' : text]).toEqual([200, '']);
  const response = (stream ? eventsIn(text).at(-1)!.data.response : JSON.parse(text)) as Json;
  return { output: response.output as Json[], response, text };
}

/** The names of the functions in the request that the host got, on any wire. */
function sentNames(): string[] {
  const { tools } = JSON.parse(harness.sim.calls.at(-1)!.body) as { tools: Json[] };
  return tools.map((tool) => String(tool.name ?? (tool.function as Json).name));
}

describe.each(['sim-responses', 'sim-gpt', 'sim-claude'])('on the host of %s', (model) => {
  describe.each([
    ['streamed', true],
    ['buffered', false],
  ])('%s', (_way, stream) => {
    test.each(KINDS)(
      '$kind is called by its own name, and its result goes back',
      async ({ choice, call, flatName }) => {
        const first = await ask({ model, input: [USER], tool_choice: choice }, stream);
        const made = first.output.find(({ type }) => type !== 'reasoning' && type !== 'message')!;
        expect(made).toMatchObject(call);
        expect(Object.keys(made)).not.toContain(call.type === 'custom_tool_call' ? 'arguments' : 'input');
        expect(String(made.id)).toMatch(call.type === 'custom_tool_call' ? /^ctc_/ : /^fc_/);
        expect(sentNames()).toEqual(['run', 'helpers_v1__close', 'helpers_v1__note', 'apply_patch']);
        expect(first.response.tools).toMatchObject(TOOLS);
        const result = { type: `${call.type}_output`, call_id: made.call_id, output: 'It is done.' };
        const second = await ask({ model, input: [USER, made, result], tool_choice: 'none' }, stream);
        expect(JSON.stringify(second.output)).toContain(`${flatName} said`);
        expect(JSON.stringify(second.output)).toContain('It is done.');
      },
    );
  });

  test('the events of a custom call are those of its kind, and obey the wire', async () => {
    const { text } = await ask({ model, input: [USER], tool_choice: { type: 'custom', name: 'apply_patch' } }, true);
    expect(faultsOfStream(text)).toEqual([]);
    const events = eventsIn(text).map(({ data }) => data);
    const deltas = events.filter(({ type }) => type === 'response.custom_tool_call_input.delta');
    expect(deltas.map(({ delta }) => delta).join('')).toBe('sample');
    expect(events.find(({ type }) => type === 'response.custom_tool_call_input.done')).toMatchObject({
      input: 'sample',
    });
    expect(text).not.toContain('function_call_arguments');
  });

  test.each([
    ['streamed', true],
    ['buffered', false],
  ])('tools that an item of the input adds can be called, %s', async (_way, stream) => {
    const choice = { type: 'custom', name: 'exec', namespace: 'functions' };
    const asked = { model, tools: undefined, input: [ADDED, USER] };
    const first = await ask({ ...asked, tool_choice: choice }, stream);
    const made = first.output.find(({ type }) => type === 'custom_tool_call')!;
    expect(made).toMatchObject({ name: 'exec', namespace: 'functions', input: 'sample' });
    expect(sentNames()).toEqual(['functions__exec']);
    const result = { type: 'custom_tool_call_output', call_id: made.call_id, output: 'It is done.' };
    const second = await ask({ ...asked, input: [ADDED, USER, made, result], tool_choice: 'none' }, stream);
    expect(JSON.stringify(second.output)).toContain('functions__exec said');
  });

  test.each([
    ['streamed', true],
    ['buffered', false],
  ])('the client’s tool search is called, and what it finds can be called, %s', async (_way, stream) => {
    const choice = { type: 'function', name: 'tool_search' };
    const first = await ask({ model, tools: [SEARCH], input: [USER], tool_choice: choice }, stream);
    const made = first.output.find(({ type }) => type === 'tool_search_call')!;
    expect(made).toMatchObject({ execution: 'client', arguments: { query: 'sample' }, status: 'completed' });
    expect(String(made.id)).toMatch(/^tsc_/);
    expect(Object.keys(made)).not.toContain('name');
    if (stream) expect(first.text).not.toContain('function_call_arguments');
    const found = { type: 'tool_search_output', call_id: made.call_id, execution: 'client', tools: [TOOLS[1]] };
    // The second search finds the same tools again.
    const again = { ...made, call_id: 'call_again' };
    const input = [USER, made, found, again, { ...found, call_id: 'call_again' }];
    const asked = { model, tools: [SEARCH], input };
    const second = await ask(
      { ...asked, tool_choice: { type: 'function', name: 'close', namespace: 'helpers_v1' } },
      stream,
    );
    expect(sentNames()).toEqual(['tool_search', 'helpers_v1__close', 'helpers_v1__note']);
    expect(second.output.at(-1)).toMatchObject({ type: 'function_call', name: 'close', namespace: 'helpers_v1' });
    expect(harness.sim.calls.at(-1)!.body).toContain(
      'These tools can be called now: helpers_v1__close, helpers_v1__note',
    );
  });

  test('the host is told once what a namespace is for, and what grammar a custom tool has', async () => {
    await ask({ model, input: [USER], tool_choice: 'none' }, false);
    const sent = harness.sim.calls.at(-1)!.body;
    expect(sent.match(/Manages helpers\./g)).toHaveLength(1);
    expect(sent).toContain('lark grammar');
    expect(sent).not.toContain('defer_loading');
  });

  test('the caller reads that the host does not enforce a grammar, wherever the tool is offered', async () => {
    const [, , patch] = TOOLS;
    const group = { type: 'namespace', name: 'edits', description: '', tools: [patch], hint: 'x' };
    const added = { type: 'additional_tools', role: 'developer', tools: [{ ...patch, name: 'other' }] };
    const earlier = { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: 'x', hint: 'y' };
    const result = { type: 'custom_tool_call_output', call_id: 'c1', output: 'It is done.' };
    const answer = await harness.post(
      { model, tools: [patch, group], input: [added, USER, earlier, result], tool_choice: 'none' },
      {},
      '/v1/responses',
    );
    await answer.text();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-gateway-adjusted')?.split(',').sort()).toEqual([
      'input.0.tools.0.format=dropped',
      'input.2.hint=dropped',
      'tools.0.format=dropped',
      'tools.1.hint=dropped',
      'tools.1.tools.0.format=dropped',
    ]);
  });

  test('tools of which the host gets everything are not named', async () => {
    const free = { type: 'custom', name: 'exec', format: { type: 'text' }, defer_loading: true };
    const answer = await harness.post(
      { model, tools: [TOOLS[0], TOOLS[1], free, SEARCH], input: [ADDED, USER], tool_choice: 'none' },
      {},
      '/v1/responses',
    );
    await answer.text();
    expect([answer.status, answer.headers.get('x-gateway-adjusted')]).toEqual([200, null]);
  });
});

describe('a host that knows the tools that clients run', () => {
  const named = { type: 'custom_tool_call', call_id: 'c1', name: 'note', namespace: 'helpers_v1', input: 'x' };
  const result = { type: 'custom_tool_call_output', call_id: 'c1', output: 'noted' };

  test('gets all of them as they are', async () => {
    const own = await startHarness({ row: { quirks: { clientTools: true } } });
    try {
      const asked = { tools: [...TOOLS, SEARCH], input: [ADDED, USER, named, result] };
      // The simulator knows functions only, so it refuses what this host would take.
      await own.post({ model: 'sim-responses', ...asked }, {}, '/v1/responses');
      expect(JSON.parse(own.sim.calls.at(-1)!.body)).toMatchObject(asked);
    } finally {
      await own.stop();
    }
  });

  test('keeps the names that it gives to calls', () => {
    const call = {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'c1',
      name: 'apply_patch',
      namespace: 'x',
      arguments: '{}',
    };
    const body = Buffer.from(JSON.stringify({ id: 'r', status: 'completed', output: [call], usage: {} }));
    const terms = { ...TERMS, request: { tools: TOOLS }, quirks: { clientTools: true } };
    expect(JSON.parse(spliceResponse(body, terms).write(billFor()).toString()).output[0]).toMatchObject(call);
  });
});

test('a hosted tool is refused by its name, with what to do', async () => {
  const hosted = [{ type: 'web_search', external_web_access: true }];
  const answer = await harness.post({ model: 'sim-responses', input: 'x', tools: hosted }, {}, '/v1/responses');
  const { error } = (await answer.json()) as { error: Json };
  expect([answer.status, error.code, error.param]).toEqual([400, 'unsupported_feature', 'tools[0].type']);
  expect(error.message).toContain('"web_search" is a server-side tool');
  expect(error.message).toContain('switch it off in the settings of your client');
});

test('a tool search of the vendor, and a hosted tool that an item adds, are refused by their places', async () => {
  const refusal = async (body: Json): Promise<unknown> => {
    const answer = await harness.post({ model: 'sim-gpt', ...body }, {}, '/v1/responses');
    return ((await answer.json()) as { error: Json }).error.param;
  };
  expect(await refusal({ input: 'x', tools: [{ type: 'tool_search' }] })).toBe('tools[0].type');
  const added = { ...ADDED, tools: [{ type: 'web_search' }] };
  expect(await refusal({ input: [added, USER] })).toBe('input[0].tools[0].type');
});

test('the hold covers what the flattened tools add to the prompt', async () => {
  const worst = async (tools: unknown): Promise<number> => {
    const answer = await harness.post(
      { path: '/v1/responses', body: { model: 'sim-responses', input: 'x', tools } },
      {},
      '/v1/quote',
    );
    return ((await answer.json()) as { worst_case_nanousd: number }).worst_case_nanousd;
  };
  const members = Array.from({ length: 5 }, (_, index) => ({ type: 'function', name: `f${index}` }));
  const flat = members.map(({ name }) => ({ type: 'function', name: `a_long_namespace__${name}` }));
  expect(await worst([{ type: 'namespace', name: 'a_long_namespace', tools: members }])).toBeGreaterThanOrEqual(
    await worst(flat),
  );
});
