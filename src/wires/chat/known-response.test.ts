import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../../../test/any-character.ts';
import { BILL, RELAY_TERMS } from '../../../test/chat-wire.ts';
import { expectSame } from '../../../test/expect-same.ts';
import { randomCases } from '../../../test/random-cases.ts';
import { LIMITS } from '../../limits.ts';
import { ResponseMemory, type ResponsePattern } from '../frames/response-memory.ts';
import { spliceResponse } from './splice-response.ts';

type Fields = Record<string, unknown>;

interface Said {
  readonly id: string;
  readonly created: number;
  readonly content: string;
  readonly usage: unknown;
}

const USAGE = {
  prompt_tokens: 9,
  completion_tokens: 4,
  total_tokens: 13,
  prompt_tokens_details: { cached_tokens: 2, audio_tokens: 0 },
};
const SAID: Said = { id: 'chatcmpl-1', created: 1_790_000_000, content: 'A "toll" bridge.\n', usage: USAGE };

/** A response as several hosts write it: compact or indented, with and without a fingerprint. */
const SPELLINGS: Readonly<Record<string, (answer: Fields) => string>> = {
  compact: (answer) => JSON.stringify(answer),
  indented: (answer) => `${JSON.stringify({ ...answer, system_fingerprint: 'fp_1' }, null, 2)}\n`,
  'with its time first': ({ id, created, ...rest }) =>
    JSON.stringify({ created, id, ...rest, service_tier: 'default' }),
};

function answerOf({ id, created, content, usage }: Said, message: Fields = {}): Fields {
  return {
    id,
    object: 'chat.completion',
    created,
    model: 'bridge-2026',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: null, ...message },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage,
  };
}

/** Everything that the gateway makes of a response. */
function relayed(body: Buffer, answers?: ResponseMemory) {
  try {
    const { usage, relayedBytes, write } = spliceResponse(body, { ...RELAY_TERMS, ...(answers && { answers }) });
    return { usage, relayedBytes, written: write(BILL).toString('latin1') };
  } catch (error) {
    return (error as Error).message;
  }
}

function taught(...bodies: readonly string[]): ResponseMemory {
  const memory = new ResponseMemory();
  for (const body of bodies) relayed(Buffer.from(body), memory);
  return memory;
}

const count = fc.nat(1_000_000);
const said: fc.Arbitrary<Said> = fc.record({
  id: fc.stringMatching(/^[\w-]{1,40}$/),
  created: fc.integer({ min: 1, max: 2_000_000_000 }),
  content: fc.oneof(fc.string({ minLength: 1 }), fc.string({ unit: anyCharacter, minLength: 1 })),
  usage: fc.oneof(
    fc.record({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
    fc.record({ prompt_tokens: count, cost: count, details: fc.array(fc.string()) }),
  ),
});

describe.each(Object.entries(SPELLINGS))('a response written %s', (_, spell) => {
  test('is recognised after another one, and relayed as if it had been parsed', () => {
    const memory = taught(spell(answerOf(SAID)));
    fc.assert(
      fc.property(said, (other) => {
        const body = Buffer.from(spell(answerOf(other)));
        const usedBefore = memory.used;
        expectSame(relayed(body, memory), relayed(body));
        expectSame(memory.used, usedBefore + 1);
      }),
    );
  });

  test('is relayed as if it had been parsed even if any of its bytes is another one, missing or added', () => {
    const memory = taught(spell(answerOf(SAID)));
    const whole = Buffer.from(spell(answerOf({ ...SAID, id: 'chatcmpl-2', content: 'It "opens"\tat six: Brücke' })));
    const byte = fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('"\\{}[],:0-9e\n ')));
    const change = fc.record({
      at: fc.nat(whole.length - 1),
      removed: fc.nat(2),
      added: fc.array(byte, { maxLength: 2 }),
    });
    fc.assert(
      fc.property(change, ({ at, removed, added }) => {
        const body = Buffer.concat([whole.subarray(0, at), Buffer.from(added), whole.subarray(at + removed)]);
        expectSame(relayed(body, memory), relayed(body));
      }),
      { numRuns: randomCases(2_000) },
    );
  });
});

describe('a response that only seems to be known is parsed', () => {
  const body = JSON.stringify(answerOf({ ...SAID, content: 'words' }));
  test.each<[string, string, string]>([
    ['with an invalid number for its time', '"created":1790000000', '"created":0790000000'],
    ['without a time', '"created":1790000000', '"created":0'],
    ['with the id of an aggregator', '"chatcmpl-1"', '"gen-1"'],
    ['with an escape in its id', '"chatcmpl-1"', '"chatcmpl-\\u0031"'],
    ['with a line feed in its text', 'words', 'wo\nrds'],
    ['with an invalid escape in its text', 'words', 'wo\\rds\\x'],
    ['with another choice in its text', 'words', 'words"},"finish_reason":"stop"},{"message":{"content":"more'],
    ['with another member after its usage', '"total_tokens":13,', '"total_tokens":13},"error":{"message":"no"},"x":{'],
    ['without usage', JSON.stringify(USAGE), 'null'],
    ['with a list for its usage', JSON.stringify(USAGE), '[1]'],
  ])('%s', (_, part, other) => {
    const changed = Buffer.from(body.replace(part, other));
    expect(changed.toString()).not.toBe(body);
    expect(relayed(changed, taught(body))).toEqual(relayed(changed));
  });
});

describe('a memory of responses', () => {
  test('keeps no id, time, text or usage of the response it learned from', () => {
    const [pattern] = taught(JSON.stringify(answerOf({ ...SAID, content: 'secret words' }))).patterns;
    const kept = [...pattern!.came, ...pattern!.written].join('');
    for (const part of ['secret', SAID.id, String(SAID.created), 'prompt_tokens']) expect(kept).not.toContain(part);
  });

  test('keeps its parts in memory of their own', () => {
    const [{ came, written }] = taught(JSON.stringify(answerOf(SAID))).patterns as [ResponsePattern];
    const kept = [...came, ...written].filter((part) => part !== null);
    expect(kept.filter(({ buffer, byteLength }) => buffer.byteLength !== byteLength)).toEqual([]);
  });

  test.each<[string, Fields]>([
    [
      'tool calls',
      answerOf(SAID, { tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] }),
    ],
    ['reasoning', answerOf(SAID, { reasoning: 'hm', reasoning_content: 'hm' })],
    ['a refusal', answerOf(SAID, { refusal: 'I cannot do that.' })],
    ['text in an unknown member', answerOf(SAID, { citations: ['https://example.com'] })],
    [
      'log probabilities',
      {
        ...answerOf(SAID),
        choices: [{ ...(answerOf(SAID).choices as Fields[])[0], logprobs: { content: [{ token: 'A' }] } }],
      },
    ],
    [
      'two choices',
      { ...answerOf(SAID), choices: [0, 1].map((index) => ({ ...(answerOf(SAID).choices as Fields[])[0], index })) },
    ],
    ['a member to repair', { ...answerOf(SAID), object: 'completion' }],
    ['its usage before its text', { usage: USAGE, ...answerOf(SAID) }],
  ])('does not learn from a response with %s', (_, answer) => {
    expect(taught(JSON.stringify(answer)).patterns).toEqual([]);
  });

  test('does not learn from a response with a key twice, of which one would be removed', () => {
    const body = JSON.stringify(answerOf(SAID)).replace('"model":', '"model":"other","model":');
    expect(taught(body).patterns).toEqual([]);
  });

  test('does not learn from a response that is long besides its text', () => {
    const model = 'm'.repeat(LIMITS.cachedFrameBytesMax);
    expect(taught(JSON.stringify({ ...answerOf(SAID), model })).patterns).toEqual([]);
  });

  test('keeps a few patterns, and seldom learns from a host that never repeats itself', () => {
    const bodies = Array.from({ length: 400 }, (_, at) =>
      JSON.stringify({ ...answerOf(SAID), system_fingerprint: `fp_${at}` }),
    );
    const memory = new ResponseMemory();
    let lessons = 0;
    const learn = memory.learn.bind(memory);
    memory.learn = (pattern) => {
      lessons++;
      learn(pattern);
    };
    for (const body of bodies) relayed(Buffer.from(body), memory);
    expect(memory.patterns.length).toBe(LIMITS.cachedFramesMax);
    expect(lessons).toBe(16 + Math.floor((400 - 16) / 128));
  });
});
