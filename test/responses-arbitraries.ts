import fc from 'fast-check';
import type { CanonicalEvent } from '../src/canonical/events.ts';
import { EFFORTS } from '../src/canonical/reasoning.ts';
import type {
  Block,
  CanonicalMessage,
  CanonicalRequest,
  DocumentBlock,
  ImageBlock,
  ReasoningBlock,
  TextBlock,
} from '../src/canonical/request.ts';
import { RESPONSES_VENDOR } from '../src/wires/responses/encrypted-reasoning.ts';
import { anyUrl } from './any-url.ts';

/** Requests in the form that the responses wire gives them, and answers in any order that the canonical form allows. */

const words = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' });
const id = fc.stringMatching(/^[a-z0-9_]{1,12}$/);
/** As a caller's JSON gives it: written and read once, since JSON has no -0. */
const jsonObject = fc
  .dictionary(id, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })
  .map((value): Record<string, unknown> => JSON.parse(JSON.stringify(value)));

const text: fc.Arbitrary<TextBlock> = words.map((said) => ({ kind: 'text', text: said }));

const image: fc.Arbitrary<ImageBlock> = fc.record({
  kind: fc.constant('image' as const),
  source: fc.oneof(
    fc.base64String({ minLength: 4 }).map((base64) => ({ kind: 'inline' as const, mediaType: 'image/png', base64 })),
    anyUrl.map((url) => ({ kind: 'url' as const, url })),
  ),
  detail: fc.constantFrom('low', 'high', 'auto', 'original', null),
});

/** With a name: hosts require one, so a document without one would get it on its way. */
const document: fc.Arbitrary<DocumentBlock> = fc.record({
  kind: fc.constant('document' as const),
  mediaType: fc.constant('application/pdf'),
  base64: fc.base64String({ minLength: 4 }),
  filename: words,
});

const reasoning: fc.Arbitrary<ReasoningBlock> = fc.record({
  kind: fc.constant('reasoning' as const),
  text: fc.oneof(words, fc.constant('')),
  opaque: fc.oneof(
    words.map((data) => ({ vendor: RESPONSES_VENDOR, form: 'encrypted' as const, data })),
    fc.tuple(words, id).map(([data, own]) => ({ vendor: RESPONSES_VENDOR, form: 'encrypted' as const, data, id: own })),
  ),
});

const call: fc.Arbitrary<Block> = fc.record({
  kind: fc.constant('tool-call' as const),
  id,
  name: id,
  argumentsJson: jsonObject.map((value) => JSON.stringify(value)),
});

const refusal: fc.Arbitrary<Block> = words.map((said) => ({ kind: 'refusal', text: said }));

const result: fc.Arbitrary<Block> = fc.record({
  kind: fc.constant('tool-result' as const),
  callId: id,
  content: fc.array(fc.oneof(text, image), { maxLength: 2 }),
  isError: fc.constant(false),
});

const said = fc.array(fc.oneof(text, text, image, document), { minLength: 1, maxLength: 3 });
const turn = fc
  .tuple(fc.array(fc.oneof(text, call, refusal, reasoning), { maxLength: 4 }), fc.oneof(text, call))
  .map(([blocks, deed]): CanonicalMessage => ({ role: 'assistant', blocks: [...blocks, deed] }));
const user = said.map((blocks): CanonicalMessage => ({ role: 'user', blocks }));
const results = fc
  .array(result, { minLength: 1, maxLength: 3 })
  .map((blocks): CanonicalMessage => ({ role: 'user', blocks }));
const system = fc
  .array(text, { minLength: 1, maxLength: 2 })
  .map((blocks): CanonicalMessage => ({ role: 'system', blocks }));

/** Neither two turns of the assistant nor two sets of results follow each other. */
const messages: fc.Arbitrary<CanonicalMessage[]> = fc
  .tuple(
    fc.array(system, { maxLength: 2 }),
    user,
    fc.array(fc.tuple(turn, fc.oneof(user, results, fc.tuple(results, user))), { maxLength: 3 }),
  )
  .map(([systems, first, rounds]) => [
    ...systems,
    first,
    ...rounds.flatMap(([answer, next]) => [answer, ...[next].flat()]),
  ]);

const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { nil: null });

const anyRequests: fc.Arbitrary<CanonicalRequest> = fc.record({
  messages,
  tools: fc.array(fc.record({ name: id, description: optional(words), schema: jsonObject, strict: fc.boolean() }), {
    maxLength: 2,
  }),
  toolChoice: optional(
    fc.oneof(
      fc.constantFrom({ kind: 'auto' as const }, { kind: 'none' as const }, { kind: 'required' as const }),
      id.map((name) => ({ kind: 'tool' as const, name })),
    ),
  ),
  parallelToolCalls: optional(fc.boolean()),
  sampling: fc.record({
    temperature: optional(fc.double({ min: 0, max: 2, noNaN: true })),
    topP: optional(fc.double({ min: 0, max: 1, noNaN: true })),
    topK: fc.constant(null),
    frequencyPenalty: fc.constant(null),
    presencePenalty: fc.constant(null),
    seed: fc.constant(null),
    stop: fc.constant([]),
  }),
  responseFormat: optional(
    fc.oneof(
      fc.constantFrom({ kind: 'text' as const }, { kind: 'json' as const }),
      fc.record({
        kind: fc.constant('schema' as const),
        name: id,
        description: optional(words),
        schema: jsonObject,
        strict: optional(fc.boolean()),
      }),
    ),
  ),
  reasoning: optional(fc.constantFrom(...EFFORTS).map((effort) => ({ effort, budgetTokens: null }))),
  verbosity: fc.constantFrom(null, null, null, null, 'low' as const, 'high' as const),
});

/** A call that is demanded without tools is refused. */
export const canonicalRequests: fc.Arbitrary<CanonicalRequest> = anyRequests.map((request) =>
  request.tools.length === 0 ? { ...request, toolChoice: null } : request,
);

const head = fc.oneof(
  fc.constantFrom({ kind: 'text' as const }, { kind: 'refusal' as const }, { kind: 'reasoning' as const }),
  fc.record({ kind: fc.constant('tool-call' as const), id, name: id }),
);

const block = fc
  .tuple(head, fc.array(words, { maxLength: 3 }), optional(words))
  .map(([one, said, data]): CanonicalEvent[] => [
    { kind: 'block-start', block: one },
    ...said.map((piece): CanonicalEvent => ({ kind: 'block-delta', text: piece })),
    {
      kind: 'block-end',
      opaque: one.kind === 'reasoning' && data !== null ? { vendor: 'another', form: 'signature', data } : null,
    },
  ]);

/** Call ids differ, as hosts make them. */
function withOwnIds(events: CanonicalEvent[]): CanonicalEvent[] {
  return events.map((event, at) =>
    event.kind === 'block-start' && event.block.kind === 'tool-call'
      ? { ...event, block: { ...event.block, id: `call_${at}` } }
      : event,
  );
}

/** A whole answer, event by event. */
export const answers: fc.Arbitrary<CanonicalEvent[]> = fc
  .tuple(fc.array(block, { maxLength: 5 }), fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter'))
  .map(([blocks, reason]) =>
    withOwnIds([
      { kind: 'start', id: 'host-id', createdS: 1 },
      ...blocks.flat(),
      { kind: 'finish', reason, raw: null, stopSequence: null },
    ]),
  );

type Json = Record<string, unknown>;

/** Streams whose hosts number parts and items wrongly, change ids and leave events out, each beside the right one. */
export const misnumberedStreams = (streams: readonly Json[][]) =>
  fc
    .record({
      events: fc.constantFrom(...streams),
      shift: fc.integer({ min: 0, max: 2 }),
      shifts: fc.subarray(['added', 'delta', 'done']),
      renamed: fc.subarray(['response.output_item.done', 'response.completed', 'response.incomplete']),
      movesItems: fc.boolean(),
      lacks: fc.subarray(['content_part.added', '.delta', 'text.done', 'arguments.done', 'part.done']),
    })
    .map(({ events, shift, shifts, renamed, movesItems, lacks }) => {
      const misnumbered = structuredClone(events).filter(
        ({ type }) => !lacks.some((end) => String(type).endsWith(end)),
      );
      for (const event of misnumbered) {
        const type = String(event.type);
        for (const name of ['content_index', 'summary_index']) {
          if (event[name] !== undefined && shifts.some((end) => type.endsWith(end)))
            event[name] = Number(event[name]) + shift;
        }
        if (!renamed.includes(type)) continue;
        const items = [event.item, ...(((event.response as Json)?.output ?? []) as Json[])] as (Json | undefined)[];
        for (const item of items) if (item?.type === 'message') item.id = `other_${item.id}`;
        if (movesItems && event.item !== undefined && (event.item as Json).type === 'message') event.output_index = 9;
      }
      return { events, misnumbered };
    });
