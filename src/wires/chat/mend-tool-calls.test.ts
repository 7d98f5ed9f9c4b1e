import { describe, expect, test } from 'vitest';
import { BILL, chunk, chunksIn, delta, deltasIn, feed, RELAY_TERMS, sse } from '../../../test/chat-wire.ts';
import type { Members } from '../fields/members.ts';
import { mendStream } from './mend.ts';

/** A fragment of a call, as a client reads it. */
interface Call {
  readonly index: number;
  readonly function: { readonly arguments?: string };
}

const fragment = (members: object, name?: string, args?: unknown): object => ({
  ...members,
  function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) },
});

/** Calls as a client gathers them: identity and arguments by index. */
function gathered(...fragments: readonly object[]): unknown[] {
  const text = feed(mendStream(RELAY_TERMS), sse(...fragments.map((one) => chunk([delta({ tool_calls: [one] })]))));
  const calls: { id: unknown; type: unknown; name: string; args: string; ids: number }[] = [];
  for (const { tool_calls } of deltasIn(text)) {
    for (const { index, id, type, function: called } of tool_calls as (Members & { index: number })[]) {
      const { name = '', arguments: args = '' } = called as { name?: string; arguments?: string };
      calls[index] ??= { id, type, name: '', args: '', ids: 0 };
      calls[index].name += name;
      calls[index].args += args;
      if (id !== undefined) calls[index].ids++;
    }
  }
  for (const { type, ids } of calls) expect([type, ids]).toEqual(['function', 1]);
  return calls.map(({ id, name, args }) => [id, name, args]);
}

describe('tool calls of hosts that', () => {
  test('keep to the wire', () => {
    const calls = gathered(
      fragment({ index: 0, id: 'a', type: 'function' }, 'open', ''),
      fragment({ index: 0 }, undefined, '{"x"'),
      fragment({ index: 0 }, undefined, ':1}'),
      fragment({ index: 1, id: 'b', type: 'function' }, 'close', ''),
      fragment({ index: 1 }, undefined, '{}'),
      fragment({ index: 0 }, undefined, ' '),
    );
    expect(calls).toEqual([
      ['a', 'open', '{"x":1} '],
      ['b', 'close', '{}'],
    ]);
  });

  test('repeat the identity in every fragment', () => {
    const calls = gathered(
      fragment({ index: 0, id: 'a', type: 'function' }, 'open', '{"x"'),
      fragment({ index: 0, id: 'a', type: 'function' }, 'open', ':1}'),
    );
    expect(calls).toEqual([['a', 'open', '{"x":1}']]);
  });

  test('give several whole calls one id', () => {
    const calls = gathered(
      fragment({ index: 0, id: 'a', type: 'function' }, 'open', '{"x":1}'),
      fragment({ index: 1, id: 'a', type: 'function' }, 'open', '{"x":2}'),
    );
    expect(calls).toEqual([
      ['a', 'open', '{"x":1}'],
      [expect.stringMatching(/^call_/), 'open', '{"x":2}'],
    ]);
  });

  test('repeat the name without an id', () => {
    const calls = gathered(fragment({ index: 0, id: 'a' }, 'open', '{"x"'), fragment({ index: 0 }, 'open', ':1}'));
    expect(calls).toEqual([['a', 'open', '{"x":1}']]);
  });

  test('give a new id with every fragment', () => {
    const calls = gathered(
      fragment({ index: 0, id: 'a', type: 'function' }, 'open', ''),
      fragment({ index: 0, id: 'b' }, undefined, '{"x"'),
      fragment({ index: 0, id: 'c' }, undefined, ':1}'),
    );
    expect(calls).toEqual([['a', 'open', '{"x":1}']]);
  });

  test('tell the name late', () => {
    const calls = gathered(
      fragment({ index: 0, id: 'a', type: 'function' }, '', ''),
      fragment({ index: 0 }, 'open', ''),
      fragment({ index: 0 }, undefined, '{}'),
    );
    expect(calls).toEqual([['a', 'open', '{}']]);
  });

  test('give every whole call the index 0', () => {
    const calls = gathered(
      fragment({ index: 0, id: 'a', type: 'function' }, 'open', '{"lane":1}'),
      fragment({ index: 0, id: 'b', type: 'function' }, 'open', '{"lane":2}'),
    );
    expect(calls).toEqual([
      ['a', 'open', '{"lane":1}'],
      ['b', 'open', '{"lane":2}'],
    ]);
  });

  test('go on with the last call of an index', () => {
    const calls = gathered(
      fragment({ index: 0, id: 'a' }, 'open', '{}'),
      fragment({ index: 0, id: 'b' }, 'close', '{"x"'),
      fragment({ index: 0 }, undefined, ':1}'),
    );
    expect(calls).toEqual([
      ['a', 'open', '{}'],
      ['b', 'close', '{"x":1}'],
    ]);
  });

  test('give whole calls the index 0 and no id', () => {
    const calls = gathered(
      fragment({ index: 0, id: '' }, 'open', '{"lane":1}'),
      fragment({ index: 0, id: '' }, 'open', '{"lane":2}'),
      fragment({ index: 0, id: null }, 'close', '{}'),
    );
    expect(calls).toEqual([
      ['call_req_1_0', 'open', '{"lane":1}'],
      ['call_req_1_1', 'open', '{"lane":2}'],
      ['call_req_1_2', 'close', '{}'],
    ]);
  });

  test('count from one, or leave gaps', () => {
    const calls = gathered(
      fragment({ index: 1, id: 'a' }, 'open', ''),
      fragment({ index: 1 }, undefined, '{}'),
      fragment({ index: 4, id: 'b' }, 'close', ''),
      fragment({ index: 4 }, undefined, '[]'),
      fragment({ index: 1 }, undefined, ' '),
    );
    expect(calls).toEqual([
      ['a', 'open', '{} '],
      ['b', 'close', '[]'],
    ]);
  });

  test('give no index', () => {
    const calls = gathered(
      fragment({ id: 'a' }, 'open', ''),
      fragment({}, undefined, '{"x":1'),
      fragment({}, undefined, '}'),
      fragment({ id: 'b' }, 'close', '{}'),
    );
    expect(calls).toEqual([
      ['a', 'open', '{"x":1}'],
      ['b', 'close', '{}'],
    ]);
  });

  test('give an unusable index', () => {
    expect(gathered(fragment({ index: -1, id: 'a' }, 'open', '{}'))).toEqual([['a', 'open', '{}']]);
    expect(gathered(fragment({ index: '0', id: 'a' }, 'open', '{}'))).toEqual([['a', 'open', '{}']]);
  });

  test('hand over arguments as an object, or none', () => {
    expect(gathered(fragment({ index: 0, id: 'a' }, 'open', { lane: [1] }))).toEqual([['a', 'open', '{"lane":[1]}']]);
    expect(gathered(fragment({ index: 0, id: 'a' }, 'open', null))).toEqual([['a', 'open', '']]);
    expect(gathered(fragment({ index: 0, id: 'a' }, 'open'))).toEqual([['a', 'open', '']]);
    expect(gathered({ index: 0, id: 'a' })).toEqual([['a', '', '']]);
  });

  test('send something other than a call', () => {
    const text = feed(
      mendStream(RELAY_TERMS),
      sse(
        chunk([delta({ content: 'x', tool_calls: 'open' })]),
        chunk([delta({ content: 'y', tool_calls: [null, 7] })]),
      ),
    );
    expect(deltasIn(text)).toEqual([{ content: 'x', role: 'assistant' }, { content: 'y' }]);
  });
});

test('custom tools keep their kind', () => {
  const first = { index: 0, id: 'a', type: 'custom', custom: { name: 'say', input: 'h' } };
  const text = feed(
    mendStream(RELAY_TERMS),
    sse(
      chunk([delta({ tool_calls: [first] })]),
      chunk([delta({ tool_calls: [{ index: 0, custom: { input: 'i' } }] })]),
    ),
  );
  expect(deltasIn(text).map(({ tool_calls }) => tool_calls)).toEqual([[first], [{ index: 0, custom: { input: 'i' } }]]);
});

test('calls of different answers get different ids', () => {
  const call = { function: { name: 'open', arguments: '{}' } };
  const text = feed(
    mendStream(RELAY_TERMS),
    sse(chunk([delta({ tool_calls: [{ ...call }] }), delta({ tool_calls: [{ ...call }] }, null, 1)])),
  );
  const ids = deltasIn(text).map(({ tool_calls }) => (tool_calls as { id: string }[])[0]!.id);
  expect(ids).toEqual(['call_req_1_0', 'call_req_1_1_0']);
});

describe('a call that ends without arguments', () => {
  const open = chunk([delta({ role: 'assistant', tool_calls: [fragment({ index: 0, id: 'a' }, 'open', '')] })]);
  const more = (index: number, text: string): object =>
    chunk([delta({ tool_calls: [fragment({ index }, undefined, text)] })]);
  const close = chunk([delta({ tool_calls: [fragment({ index: 1, id: 'b' }, 'close', '')] })]);
  /** The arguments of every call as a client joins them, and the finish reasons. */
  const read = (...chunks: readonly object[]): { args: string[]; reasons: unknown[] } => {
    const relay = mendStream(RELAY_TERMS);
    const text = feed(relay, sse(...chunks, '[DONE]')) + relay.closing(BILL);
    const args: string[] = [];
    for (const { index, function: called } of deltasIn(text).flatMap(
      ({ tool_calls: calls }) => (calls ?? []) as Call[],
    )) {
      args[index] = (args[index] ?? '') + (called.arguments ?? '');
    }
    const choices = chunksIn(text).flatMap((one) => one.choices as Members[]);
    return { args, reasons: choices.map((choice) => choice.finish_reason).filter((reason) => reason !== null) };
  };

  test('has an empty object, so that clients can parse it', () => {
    const end = chunk([delta({}, 'tool_calls')]);
    expect(read(open, end)).toEqual({ args: ['{}'], reasons: ['tool_calls'] });
    expect(read(open, end, end)).toEqual({ args: ['{}'], reasons: ['tool_calls'] });
    expect(read(open)).toEqual({ args: ['{}'], reasons: ['tool_calls'] });
    expect(read(open, close, more(0, '{"x"'), more(0, ':1}'), end).args).toEqual(['{"x":1}', '{}']);
    expect(read(open, more(0, '{'), more(0, ' '), more(0, '}'), close, more(1, '{}'), end).args).toEqual(['{ }', '{}']);
  });

  test('in the chunk that finishes the choice has one too', () => {
    const whole = delta({ tool_calls: [fragment({ index: 0, id: 'a' }, 'open', '')] }, 'stop');
    expect(read(chunk([whole]))).toEqual({ args: ['{}'], reasons: ['tool_calls'] });
  });

  test('has it in the one fragment that this chunk has of the call: some clients take two for two calls', () => {
    const calls = [fragment({ index: 0, id: 'a' }, 'open', ''), fragment({ index: 1, id: 'b' }, 'look', '{"x":1}')];
    const text = feed(mendStream(RELAY_TERMS), sse(chunk([delta({ tool_calls: calls }, 'tool_calls')]), '[DONE]'));
    expect(deltasIn(text)[0]?.tool_calls).toEqual([
      { index: 0, id: 'a', type: 'function', function: { name: 'open', arguments: '{}' } },
      { index: 1, id: 'b', type: 'function', function: { name: 'look', arguments: '{"x":1}' } },
    ]);
  });

  test('stays without if the output limit may have cut them off', () => {
    expect(read(open, chunk([delta({}, 'length')]))).toEqual({ args: [''], reasons: ['length'] });
  });

  test('does not make the usage that came before partial', () => {
    const relay = mendStream(RELAY_TERMS);
    const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
    feed(relay, sse(open, chunk([], { usage }), chunk([delta({}, 'tool_calls')]), '[DONE]'));
    expect(relay.usage.state).toBe('reported');
  });
});
