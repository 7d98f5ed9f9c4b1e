import fc from 'fast-check';
import type { CanonicalResponse, FinishReason, ResponseBlock } from '../src/canonical/events.ts';
import type { OpaqueReasoning } from '../src/canonical/request.ts';
import { ZERO_USAGE } from '../src/canonical/usage.ts';
import { VENDOR } from '../src/wires/messages/vendor-headers.ts';
import { anyCharacter } from './any-character.ts';
import { anyUrl } from './any-url.ts';

/** Requests and answers, from ordinary to unusual. */

const words = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 20 }).filter((text) => text.isWellFormed());
const id = fc.stringMatching(/^[\w-]{1,12}$/);
const json = fc.oneof(
  fc.constantFrom('{}', '{"at": 12345678901234567890}', '{"a":1.50,"b":[null,"é\\u0041"]}', '{ "deep": {"er": {}} }'),
  fc.dictionary(words, fc.oneof(words, fc.integer(), fc.boolean())).map((value) => JSON.stringify(value)),
);

const cacheControl = fc.option(
  fc.constantFrom({ type: 'ephemeral' }, { type: 'ephemeral', ttl: '5m' }, { type: 'ephemeral', ttl: '1h' }),
  { nil: undefined, freq: 3 },
);

/** Text for a turn: white space alone is left out, so it does not come back. */
const said = words.filter((one) => one.trim() !== '');
const text = fc.record({ type: fc.constant('text'), text: said, cache_control: cacheControl });
const image = fc.record({
  type: fc.constant('image'),
  source: fc.oneof(
    fc.record({ type: fc.constant('base64'), media_type: fc.constant('image/png'), data: fc.base64String() }),
    fc.record({ type: fc.constant('url'), url: anyUrl }),
  ),
  cache_control: cacheControl,
});
const document = fc.record({
  type: fc.constant('document'),
  source: fc.record({
    type: fc.constant('base64'),
    media_type: fc.constant('application/pdf'),
    data: fc.base64String(),
  }),
  title: words,
  cache_control: cacheControl,
});
const thinking = fc.record({
  type: fc.constant('thinking'),
  thinking: words,
  signature: fc.base64String({ minLength: 4 }),
});
const redacted = fc.record({ type: fc.constant('redacted_thinking'), data: fc.base64String() });
/** The input stays text until the request is written, so that every spelling of a number is there. */
const toolUse = fc.record({ type: fc.constant('tool_use'), id, name: id, input: json });
const toolResult = fc.record(
  {
    type: fc.constant('tool_result'),
    tool_use_id: id,
    content: fc.array(fc.oneof(text, image), { maxLength: 2 }),
    is_error: fc.boolean(),
    cache_control: cacheControl,
  },
  { requiredKeys: ['type', 'tool_use_id'] },
);

/** Turns as the canonical form has them: roles alternate, tool results come first, nothing is empty. */
const userTurn = fc
  .tuple(fc.array(toolResult, { maxLength: 2 }), fc.array(fc.oneof(text, image, document), { maxLength: 2 }))
  .map(([results, shown]) => [...results, ...shown])
  .filter((content) => content.length > 0)
  .map((content) => ({ role: 'user', content }));
const assistantTurn = fc
  .tuple(
    fc.array(fc.oneof(thinking, redacted), { maxLength: 2 }),
    fc.array(text, { maxLength: 1 }),
    fc.array(toolUse, { maxLength: 3 }),
  )
  .map((parts) => parts.flat())
  .filter((content) => content.length > 0)
  .map((content) => ({ role: 'assistant', content }));

const alternating = fc
  .tuple(userTurn, fc.array(fc.tuple(assistantTurn, userTurn), { maxLength: 2 }))
  .map(([first, rest]) => [first, ...rest.flat()]);

/** For a strict tool, objects allow no other properties. */
const CLOSED = { type: 'object', properties: {}, additionalProperties: false };

const tool = fc.record(
  {
    name: id,
    input_schema: fc.constantFrom(CLOSED, { ...CLOSED, properties: { a: { type: 'string' } } }),
    description: words,
    strict: fc.boolean(),
    cache_control: cacheControl,
  },
  { requiredKeys: ['name', 'input_schema'] },
);

const toolChoice = fc.oneof(
  fc.record({ type: fc.constantFrom('auto', 'any'), disable_parallel_tool_use: fc.constantFrom(true, undefined) }),
  fc.record({ type: fc.constant('tool'), name: id, disable_parallel_tool_use: fc.constantFrom(true, undefined) }),
  fc.constant({ type: 'none' }),
);

const schema = { ...CLOSED, properties: { a: { type: 'number' } }, required: ['a'] };

const rest = fc
  .record(
    {
      system: fc.array(text, { minLength: 1, maxLength: 2 }),
      temperature: fc.double({ min: 0, max: 0.99, noNaN: true }),
      top_p: fc.double({ min: 0, max: 0.99, noNaN: true }),
      top_k: fc.nat(100),
      stop_sequences: fc.array(
        words.filter((one) => one.trim() !== ''),
        { minLength: 1, maxLength: 3 },
      ),
      output_config: fc.constant({ format: { type: 'json_schema', schema } }),
    },
    { requiredKeys: [] },
  )
  .map(({ top_p: share, ...others }) =>
    // Hosts take one of the two.
    share === undefined || others.temperature !== undefined ? others : { ...others, top_p: share },
  );

const tools = fc.option(
  fc.record({
    tools: fc.array(tool, { minLength: 1, maxLength: 2 }),
    tool_choice: fc.option(toolChoice, { nil: undefined }),
  }),
  { nil: {} },
);

/** A request's body as text. */
function bodyOf(messages: readonly object[], ...fields: object[]): string {
  const body = Object.assign({ model: 'claude-harbour', max_tokens: 4096, messages }, ...fields);
  return JSON.stringify(body, (_key, value) =>
    isToolUse(value) ? { ...value, input: `\u0000${value.input}\u0000` } : value,
  ).replace(/"\\u0000((?:[^"\\]|\\.)*?)\\u0000"/g, (_whole, quoted: string) => JSON.parse(`"${quoted}"`));
}

function isToolUse(value: unknown): value is { input: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'input' in value &&
    typeof value.input === 'string' &&
    !value.input.startsWith('\u0000')
  );
}

/** The mark by which `bodyOf` recognises values that are already JSON text. */
function hasNoNul(parts: unknown): boolean {
  return !JSON.stringify(parts).includes('\\u0000');
}

/** Hosts refuse ids of calls that repeat, so such ids are renamed. */
function hasEachCallOnce(turns: readonly { readonly content: readonly object[] }[]): boolean {
  const ids = turns.flatMap(({ content }) =>
    content.flatMap((block) => ('input' in block && 'id' in block ? [block.id] : [])),
  );
  return new Set(ids).size === ids.length;
}

/** Bodies that are the same after translation to the canonical form and back. */
export const normalBody = fc
  .tuple(alternating.filter(hasEachCallOnce), rest, tools)
  .filter(hasNoNul)
  .map(([messages, ...fields]) => bodyOf(messages, ...fields));

const anyTurn = fc.oneof(
  userTurn,
  assistantTurn,
  fc.record({ role: fc.constantFrom('user', 'assistant', 'system'), content: fc.oneof(words, fc.constant('')) }),
  fc.record({
    role: fc.constant('assistant'),
    content: fc.constant([{ type: 'thinking', thinking: 'unsigned', signature: '' }]),
  }),
  fc.record({ role: fc.constant('user'), content: fc.tuple(text, toolResult) }),
);

/** Bodies with turns in any order, and with content that a host would refuse or must not see. */
export const anyBody = fc
  .tuple(
    fc.array(anyTurn, { maxLength: 6 }).map((turns) => [{ role: 'user', content: 'Ahoy' }, ...turns]),
    rest,
    tools,
    fc.constantFrom({}, { temperature: 1 }, { system: 'Be brief.' }),
  )
  .filter(hasNoNul)
  .map(([messages, ...fields]) => bodyOf(messages, ...fields));

const ownOpaque = fc.oneof(
  fc.record({
    vendor: fc.constant(VENDOR),
    form: fc.constant('signature' as const),
    data: fc.base64String({ minLength: 4 }),
  }),
  fc.constant(null),
);
const foreignOpaque: fc.Arbitrary<OpaqueReasoning> = fc.record(
  { vendor: fc.constant('somebody'), form: fc.constantFrom('signature', 'encrypted'), data: words, id },
  { requiredKeys: ['vendor', 'form', 'data'] },
);

function blockWith(opaque: fc.Arbitrary<OpaqueReasoning | null>): fc.Arbitrary<ResponseBlock> {
  return fc.oneof(
    words.map((one): ResponseBlock => ({ head: { kind: 'text' }, text: one, opaque: null })),
    fc
      .tuple(fc.oneof(words, fc.constant('')), opaque)
      .map(([one, sealed]): ResponseBlock => ({ head: { kind: 'reasoning' }, text: one, opaque: sealed })),
    fc.base64String().map(
      (data): ResponseBlock => ({
        head: { kind: 'reasoning' },
        text: '',
        opaque: { vendor: VENDOR, form: 'redacted', data },
      }),
    ),
    fc.tuple(id, id, fc.oneof(json, fc.constant(''))).map(
      ([callId, name, args]): ResponseBlock => ({
        head: { kind: 'tool-call', id: callId, name },
        text: args,
        opaque: null,
      }),
    ),
  );
}

function answerOf(blocks: fc.Arbitrary<ResponseBlock>): fc.Arbitrary<CanonicalResponse> {
  return fc.record({
    id: fc.constant(null),
    createdS: fc.constant(null),
    blocks: fc.array(blocks, { maxLength: 5 }),
    finish: fc
      .tuple(fc.constantFrom<FinishReason>('stop', 'length', 'tool_calls', 'content_filter'), fc.option(words))
      .map(([reason, stopSequence]) => ({
        kind: 'finish' as const,
        reason,
        raw: null,
        stopSequence: reason === 'stop' ? stopSequence : null,
      })),
    usage: fc.constant({ state: 'reported' as const, usage: { ...ZERO_USAGE, freshTokens: 3, outputTokens: 5 } }),
  });
}

/** Answers without anything that belongs to another vendor. */
export const ownAnswer = answerOf(blockWith(ownOpaque));
export const foreignAnswer = answerOf(blockWith(foreignOpaque));
