import { describe, expect, test } from 'vitest';
import { ZERO_USAGE } from '../src/canonical/usage.ts';
import { TranslatedStream, translateResponse } from '../src/gateway/translate.ts';
import { type JsonText, scanJson } from '../src/json/json.ts';
import { LIMITS } from '../src/limits.ts';
import { WIRES } from '../src/wires/registry.ts';
import { feed, TERMS, WRITE_TERMS } from './messages-relay.ts';

/** Numbers that a double rounds, cuts off, or does not hold at all. */
const LONG = ['9007199254740993', '-12345678901234567890', '0.12345678901234567891', '1e400'];
const SCHEMA = `{"type":"object","properties":{"at":{"type":"integer","enum":[${LONG}],"maximum":${LONG[0]},"default":${LONG[1]}}},"required":["at"],"additionalProperties":false}`;
const TALKING = ['chat', 'messages', 'responses'] as const;
type Talking = (typeof TALKING)[number];

const REQUESTS: Readonly<Record<Talking, string>> = {
  chat: `{"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":{"name":"tide","parameters":${SCHEMA}}}],
    "response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":${SCHEMA}}}}`,
  messages: `{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"Hi"}],"tools":[{"name":"tide","input_schema":${SCHEMA}}],
    "output_config":{"format":{"type":"json_schema","schema":${SCHEMA}}}}`,
  responses: `{"model":"m","input":"Hi","tools":[{"type":"namespace","name":"sea","description":"All about the sea.","tools":[{"type":"function","name":"tide","parameters":${SCHEMA}}]}],
    "text":{"format":{"type":"json_schema","name":"answer","schema":${SCHEMA}}}}`,
};

const UPSTREAM = {
  hostModel: 'any',
  stream: false,
  outputLimit: 4096,
  outputLimitField: 'max_tokens',
  reasoningEffort: null,
  thinking: null,
} as const;

function scan(json: string): JsonText {
  return scanJson(Buffer.from(json), {
    depthMax: LIMITS.jsonDepthMax,
    nodesMax: LIMITS.jsonNodesMax,
    keysMax: LIMITS.jsonKeysMax,
    numberDigitsMax: LIMITS.jsonNumberDigitsMax,
    keyBytesMax: LIMITS.jsonKeyBytesMax,
  });
}

const pairs = TALKING.flatMap((from) => TALKING.filter((to) => to !== from).map((to) => [from, to] as const));

test.each(pairs)('schemas of a %s request reach a host of the %s wire with every digit', (from, to) => {
  const { client, hub } = WIRES[from];
  const text = scan(REQUESTS[from]);
  const request = hub!.client!.readRequest(text, client.peek(text, {}));
  const written = WIRES[to].hub!.upstream!.writeRequest(request, UPSTREAM).toString();
  expect(written.split(`"enum":[${LONG}]`)).toHaveLength(3);
  expect(written.split(`"default":${LONG[1]}`)).toHaveLength(3);
  expect(written).toContain(LONG[0]);
});

test.each([
  ['tools[0].function.parameters', '{"type":"function","function":{"name":"tide","parameters":NUMBER}}'],
  [
    'tools[0].custom.format.grammar.syntax',
    '{"type":"custom","custom":{"name":"tide","format":{"type":"grammar","grammar":{"syntax":NUMBER,"definition":"x"}}}}',
  ],
])('a long number as %s is refused like any other number', (param, tool) => {
  for (const number of ['5', LONG[0]!]) {
    const tools = tool.replace('NUMBER', number);
    const text = scan(`{"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":[${tools}]}`);
    const read = () => WIRES.chat.hub!.client!.readRequest(text, WIRES.chat.client.peek(text, {}));
    expect(read).toThrow(expect.objectContaining({ kind: 'invalid_value', param }));
  }
});

test('a long number as the schema of a messages format is refused like any other number', () => {
  for (const number of ['5', LONG[0]!]) {
    const format = `{"format":{"type":"json_schema","schema":${number}}}`;
    const messages = '[{"role":"user","content":"Hi"}]';
    const text = scan(`{"model":"m","max_tokens":9,"messages":${messages},"output_config":${format}}`);
    const read = () => WIRES.messages.hub!.client!.readRequest(text, WIRES.messages.client.peek(text, {}));
    expect(read).toThrow(expect.objectContaining({ kind: 'invalid_value', param: 'output_config.format' }));
  }
});

test.each(['chat', 'completions'] as const)('a seed of a %s request has every digit for a chat host', (from) => {
  const prompt = from === 'chat' ? '"messages":[{"role":"user","content":"Hi"}]' : '"prompt":"Hi"';
  const { client, hub } = WIRES[from];
  for (const seed of ['7', '9007199254740993', '-9223372036854775807']) {
    const text = scan(`{"model":"m",${prompt},"seed":${seed}}`);
    const request = hub!.client!.readRequest(text, client.peek(text, {}));
    const written = WIRES.chat.hub!.upstream!.writeRequest(request, UPSTREAM).toString();
    expect(written).toContain(`"seed":${seed}`);
  }
});

test('tools of a namespace reach a host of the same wire with every digit', () => {
  const { client, relay } = WIRES.responses;
  const text = scan(REQUESTS.responses);
  const terms = { ...UPSTREAM, forwards: [], reducesVectors: false };
  const written = relay.spliceRequest(text, client.peek(text, {}), terms).toString();
  expect(written).toContain(`"name":"sea__tide"`);
  expect(written.split(`"enum":[${LONG}]`)).toHaveLength(3);
});

const INPUT = `{"at":[${LONG}]}`;
const MESSAGE = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t","name":"tide","input":${INPUT}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":5}}`;
const COMPLETION = `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"tide","arguments":${INPUT}}}]}}],"usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8}}`;
const ITEM = `{"id":"fc_1","type":"function_call","call_id":"t","name":"tide","arguments":${INPUT}}`;
const RESPONSE = `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[${ITEM}],"usage":{"input_tokens":3,"output_tokens":5,"total_tokens":8}}`;
const ANSWERS = { messages: MESSAGE, chat: COMPLETION, responses: RESPONSE } as const;
/** As one frame of a stream whose call comes whole. */
const STREAMS = {
  messages: `event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"tide","input":${INPUT}}}\n\n`,
  chat: `data: ${COMPLETION.replace('"message"', '"delta"')}\n\n`,
  responses: `event: response.output_item.done\ndata: {"type":"response.output_item.done","output_index":0,"item":${ITEM}}\n\n`,
} as const;
const BILL = {
  usage: ZERO_USAGE,
  costNanousd: 1n,
  costUsd: 0,
  components: { freshNanousd: 1n, cacheWriteNanousd: 0n, cacheReadNanousd: 0n, outputNanousd: 0n },
};

describe.each(TALKING)('a tool call of a %s host whose input is an object', (name) => {
  const { relay, hub } = WIRES[name];
  const other = WIRES[name === 'chat' ? 'messages' : 'chat'].hub!.client!;
  const body = Buffer.from(ANSWERS[name]);
  const hasDigits = (text: string): boolean => LONG.every((number) => text.includes(number));

  test('keeps every digit in a buffered response', () => {
    const answer = translateResponse(body, other, hub!.upstream!, WRITE_TERMS, {});
    expect(hasDigits(answer.write(BILL).toString())).toBe(true);
    expect(hasDigits(relay.spliceResponse(body, TERMS).write(BILL).toString())).toBe(true);
  });

  test('keeps every digit if the response comes instead of a stream', () => {
    const frames = relay.stream!.responseAsStream(body)!;
    expect(hasDigits(feed(relay.stream!.mend(TERMS), frames, 1000))).toBe(true);
  });

  test('keeps every digit in a stream', () => {
    const frames = Buffer.from(STREAMS[name]);
    expect(hasDigits(feed(relay.stream!.mend(TERMS), frames, 1000))).toBe(true);
    const translated = new TranslatedStream(other, hub!.upstream!, WRITE_TERMS, {});
    expect(hasDigits(feed(translated, frames, 1000))).toBe(true);
  });
});
