import { describe, expect, test } from 'vitest';
import { jsonText, UPSTREAM_TERMS } from '../../../test/chat-wire.ts';
import { REQUEST } from '../../../test/shortest-request.ts';
import type { HostQuirks } from '../../canonical/host-quirks.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import { peek } from './peek.ts';
import { spliceRequest } from './splice-request.ts';
import { writeRequest } from './write-request.ts';

type Message = Record<string, unknown>;

function write(body: object, quirks: HostQuirks): string {
  const text = jsonText({ model: 'bridge', max_completion_tokens: 9, ...body });
  return spliceRequest(text, peek(text), { ...UPSTREAM_TERMS, outputLimit: 9, quirks }).toString();
}

function sent(messages: Message[], quirks: HostQuirks): Message[] {
  return (JSON.parse(write({ messages }, quirks)) as { messages: Message[] }).messages;
}

const TURN = { role: 'assistant', content: 'so' };
const DETAILS = [{ type: 'reasoning.text', text: 'hm', signature: 's', format: 'anyone' }];
const OPEN = { type: 'reasoning.text', text: 'hm', format: 'anyone' };
const OF_A_RESELLER = ['maker-v1', 'unknown'].map((format) => ({ ...DETAILS[0], format }));
const UNTAGGED = { type: 'reasoning.encrypted', data: 'sealed by the host itself' };

describe('the role developer, for a host that does not know it,', () => {
  test('becomes system, and every other byte stays', () => {
    const messages = '[ {"role":"developer","content":"\\u0041"} , {"content":"b","role":"user"}]';
    const body = `{"model":"bridge","messages":${messages},"max_completion_tokens":9}`;
    const text = jsonText(body);
    const terms = { ...UPSTREAM_TERMS, outputLimit: 9, quirks: { developerAsSystem: true } };
    expect(spliceRequest(text, peek(text), terms).toString()).toBe(body.replace('"developer"', '"system"'));
  });

  test('stays as it was written for other hosts', () => {
    expect(sent([{ role: 'developer', content: 'a' }], {})[0]!.role).toBe('developer');
  });
});

describe('traces of earlier turns', () => {
  const plain = { ...TURN, reasoning: 'hm', reasoning_content: 'hm', reasoning_details: [] };
  const both = { ...TURN, reasoning: 'hm', reasoning_content: 'hm', reasoning_details: DETAILS };

  test.each<[string, HostQuirks, Message, Message]>([
    ['go as written where nothing is said', {}, plain, plain],
    [
      'go to a reseller, which passes them on, if it made their tags',
      { seals: 'any' },
      { ...TURN, reasoning_details: [...OF_A_RESELLER, ...DETAILS, UNTAGGED] },
      { ...TURN, reasoning_details: [...OF_A_RESELLER, UNTAGGED] },
    ],
    ['go back to their maker', { seals: 'anyone' }, both, both],
    ['sealed ones go to nobody else', { seals: 'other' }, both, { ...TURN, reasoning: 'hm', reasoning_content: 'hm' }],
    [
      'and of several only those',
      {},
      { ...TURN, reasoning_details: [OPEN, ...DETAILS, UNTAGGED] },
      { ...TURN, reasoning_details: [OPEN, UNTAGGED] },
    ],
    ['do not go to a host that refuses them', { traces: 'none' }, both, TURN],
    [
      'are sent under the one name that the host knows',
      { traces: 'reasoning_content' },
      both,
      { ...TURN, reasoning_content: 'hm' },
    ],
    [
      'are renamed for it',
      { traces: 'reasoning_content' },
      { ...TURN, reasoning: 'h"m' },
      { ...TURN, reasoning_content: 'h"m' },
    ],
    [
      'are renamed the other way',
      { traces: 'reasoning' },
      { ...TURN, reasoning_content: 'hm', reasoning: '' },
      { ...TURN, reasoning: 'hm' },
    ],
    ['are not made up', { traces: 'reasoning_content' }, TURN, TURN],
    [
      'are found in details that the client sends back alone',
      { traces: 'reasoning_content' },
      {
        ...TURN,
        reasoning_details: [
          { type: 'reasoning.text', text: 'h', index: 0 },
          { type: 'reasoning.text', text: 'm', index: 0 },
          { type: 'reasoning.text', text: 'signed elsewhere', signature: 'c2ln', format: 'somebody', index: 1 },
        ],
      },
      { ...TURN, reasoning_content: 'hm' },
    ],
    ['what only its maker can read stays here', { traces: 'reasoning' }, { ...TURN, reasoning_details: DETAILS }, TURN],
  ])('%s', (_name, quirks, message, expected) => {
    expect(sent([{ role: 'user', content: 'a' }, message], quirks)[1]).toEqual(expected);
  });

  test('a user who writes of reasoning is not touched', () => {
    const message = { role: 'user', content: 'a', reasoning: 'mine' };
    expect(sent([message], { traces: 'none' })).toEqual([message]);
  });
});

test('a field the host refuses is not sent, nor asked for by ourselves; one it must have is', () => {
  const quirks: HostQuirks = { omits: ['stream_options', 'logit_bias'], adds: { safe_prompt: false } };
  const body = { messages: [{ role: 'user', content: 'a' }], stream: true, logit_bias: {}, stream_options: {} };
  const { messages: _, ...rest } = JSON.parse(write(body, quirks));
  expect(rest).toEqual({ model: 'bridge', max_completion_tokens: 9, stream: true, safe_prompt: false });
});

test('a request from another wire keeps to the same quirks', () => {
  const request = {
    ...REQUEST,
    messages: [
      { role: 'user', blocks: [{ kind: 'text', text: 'a' }] },
      {
        role: 'assistant',
        blocks: [
          { kind: 'reasoning', text: 'hm', opaque: null },
          { kind: 'text', text: 'so' },
        ],
      },
    ],
  } as unknown as CanonicalRequest;
  const written = (quirks: HostQuirks) =>
    JSON.parse(
      writeRequest(request, {
        hostModel: 'm',
        stream: true,
        outputLimit: 5,
        outputLimitField: 'max_tokens',
        reasoningEffort: null,
        thinking: null,
        quirks,
      }).toString(),
    );
  expect(written({}).messages[1]).toEqual({ ...TURN, reasoning_content: 'hm' });
  expect(written({ traces: 'reasoning' }).messages[1]).toEqual({ ...TURN, reasoning: 'hm' });
  expect(written({ traces: 'none' }).messages[1]).toEqual(TURN);
  expect(written({}).stream_options).toEqual({ include_usage: true });
  expect(written({ omits: ['stream_options'], adds: { x: 1 } })).toMatchObject({ x: 1, stream: true });
  expect(written({ omits: ['stream_options'] }).stream_options).toBeUndefined();
});

describe('a host that wants the reasoning of every turn back after tool calls', () => {
  const quirks: HostQuirks = { traces: 'reasoning_content', missingTrace: ' ' };
  const calls = [{ id: 'a', type: 'function', function: { name: 'open', arguments: '{}' } }];
  const CALLING = { role: 'assistant', content: null, tool_calls: calls };
  const RESULT = { role: 'tool', tool_call_id: 'a', content: 'done' };
  const loop = [{ role: 'user', content: 'a' }, CALLING, RESULT, TURN];
  const traces = (messages: Message[]): unknown[] => messages.map((message) => message.reasoning_content);

  test('gets a placeholder where a client did not send it', () => {
    expect(traces(sent(loop, quirks))).toEqual([undefined, ' ', undefined, ' ']);
    expect(traces(sent([{ ...CALLING, reasoning: 'hm' }, RESULT], quirks))).toEqual(['hm', undefined]);
    expect(traces(sent([{ ...CALLING, reasoning_content: '' }, RESULT], quirks))).toEqual([' ', undefined]);
  });

  test('gets none without tool calls, or where reasoning is switched off', () => {
    expect(traces(sent([TURN], quirks))).toEqual([undefined]);
    const off = JSON.parse(write({ messages: loop, thinking: { type: 'disabled' } }, quirks)) as {
      messages: Message[];
    };
    expect(traces(off.messages).every((trace) => trace === undefined)).toBe(true);
    expect(traces(sent(loop, { traces: 'reasoning_content' })).every((trace) => trace === undefined)).toBe(true);
  });

  test('gets it in requests from another wire too', () => {
    const text = (words: string) => ({ kind: 'text', text: words });
    const call = { kind: 'tool-call', id: 'a', name: 'open', argumentsJson: '{}' };
    const result = { kind: 'tool-result', callId: 'a', content: [text('done')], isError: false };
    const messages = [
      { role: 'user', blocks: [text('a')] },
      { role: 'assistant', blocks: [call] },
      { role: 'user', blocks: [result] },
    ];
    const written = (reasoningEffort: string | null, more: HostQuirks = {}) =>
      JSON.parse(
        writeRequest({ ...REQUEST, messages } as unknown as CanonicalRequest, {
          ...{ hostModel: 'm', stream: false, outputLimit: 5, outputLimitField: 'max_tokens', thinking: null },
          ...{ reasoningEffort, quirks: { ...quirks, ...more } },
        }).toString(),
      ) as { messages: Message[]; [field: string]: unknown };
    expect(traces(written('high').messages)).toEqual([undefined, ' ', undefined]);
    expect(traces(written('none').messages)).toEqual([undefined, undefined, undefined]);
    const off = { thinking: { type: 'disabled' } };
    expect(written('none', { reasoningOff: off })).toMatchObject(off);
    expect(written('none', { reasoningOff: off })).not.toHaveProperty('reasoning_effort');
  });
});

test('reasoning is switched off by the fields of a host whose effort cannot', () => {
  const off = { thinking: { type: 'disabled' } };
  const sentWith = (reasoningEffort: string | null) => {
    const text = jsonText({ model: 'bridge', messages: [{ role: 'user', content: 'a' }], reasoning_effort: 'none' });
    return JSON.parse(
      spliceRequest(text, peek(text), { ...UPSTREAM_TERMS, reasoningEffort, quirks: { reasoningOff: off } }).toString(),
    ) as Message;
  };
  expect(sentWith('none')).toMatchObject(off);
  expect(sentWith('none')).not.toHaveProperty('reasoning_effort');
  expect(sentWith('high')).toMatchObject({ reasoning_effort: 'high' });
  expect(sentWith('high')).not.toHaveProperty('thinking');
});

describe('a host that takes only ids of nine letters and digits', () => {
  const quirks: HostQuirks = { callIdChars: 9 };
  const call = (id: string): Message => ({ id, type: 'function', function: { name: 'open', arguments: '{}' } });
  const loop = (...ids: string[]): Message[] => [
    { role: 'assistant', content: null, tool_calls: ids.map(call) },
    ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'done' })),
  ];
  const idsIn = ([calling, ...results]: Message[]): unknown[] => [
    (calling!.tool_calls as Message[]).map(({ id }) => id),
    results.map(({ tool_call_id: id }) => id),
  ];

  test('gets others in their place, the same in a call and its result', () => {
    const [called, answered] = idsIn(sent(loop('toolu_01A', 'call_abc', 'aB3xK9mP2', ''), quirks));
    expect(called).toEqual(answered);
    expect(new Set(called as string[]).size).toBe(4);
    for (const id of called as string[]) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect((called as string[])[2]).toBe('aB3xK9mP2');
  });

  test('gets every byte as it was written if the ids are its own', () => {
    const body = `{"model":"bridge","messages": ${JSON.stringify(loop('aB3xK9mP2'))} ,"max_completion_tokens":9}`;
    const text = jsonText(body);
    expect(spliceRequest(text, peek(text), { ...UPSTREAM_TERMS, outputLimit: 9, quirks }).toString()).toBe(body);
  });

  test('gets the same ids in requests from another wire', () => {
    const ids = ['toolu_01A', 'aB3xK9mP2'];
    const messages = [
      {
        role: 'assistant',
        blocks: ids.map((id) => ({ kind: 'tool-call', id, name: 'open', argumentsJson: '{}' })),
      },
      {
        role: 'user',
        blocks: ids.map((callId) => ({
          ...{ kind: 'tool-result', callId, isError: false },
          content: [{ kind: 'text', text: 'done' }],
        })),
      },
    ];
    const written = JSON.parse(
      writeRequest({ ...REQUEST, messages } as unknown as CanonicalRequest, {
        ...{ hostModel: 'm', stream: false, outputLimit: 5, outputLimitField: 'max_tokens', thinking: null },
        ...{ reasoningEffort: null, quirks },
      }).toString(),
    ) as { messages: Message[] };
    expect(idsIn(written.messages)).toEqual(idsIn(sent(loop(...ids), quirks)));
    expect(idsIn(written.messages)).toEqual(Array(2).fill([expect.stringMatching(/^[0-9a-f]{9}$/), ids[1]]));
  });
});
