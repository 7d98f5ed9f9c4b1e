import fc from 'fast-check';
import { expect, test } from 'vitest';
import { randomCases } from '../../../test/random-cases.ts';
import { misnumberedStreams } from '../../../test/responses-arbitraries.ts';
import {
  accumulate,
  eventsIn,
  faultsOfStream,
  fixture,
  framesOf,
  type Json,
  relayInPieces,
  TERMS,
} from '../../../test/responses-stream.ts';
import { mendStream } from './mend.ts';

const STREAMS = ['text', 'reasoning-parallel-tools', 'refusal', 'raw-trace-nameless', 'interleaved-tools'].map((name) =>
  eventsIn(fixture(name).toString()).map(({ data }) => data),
);

/** Members that a host may leave out; without both its index and its id, it would be unknown which item an event is about. */
const FORGETTABLE = [
  'sequence_number',
  'logprobs',
  'item_id',
  'content_index',
  'summary_index',
  'part',
  'text',
  'name',
];

/** A host's stream with events, members, names and numbers left out; it always has an end. */
const carelessStreams = fc
  .record({
    events: fc.constantFrom(...STREAMS),
    dropped: fc.array(fc.nat(40), { maxLength: 6 }),
    forgotten: fc.array(fc.tuple(fc.nat(40), fc.constantFrom(...FORGETTABLE)), { maxLength: 12 }),
    forgetsAlways: fc.subarray(FORGETTABLE, { maxLength: 2 }),
    finalOutput: fc.constantFrom('told', 'empty', 'absent'),
  })
  .map(({ events, dropped, forgotten, forgetsAlways, finalOutput }) => {
    const careless = structuredClone(events);
    for (const [at, name] of forgotten)
      if (careless[at]?.type !== 'response.output_item.added') delete careless[at]?.[name];
    for (const event of careless) for (const name of forgetsAlways) delete event[name];
    const response = careless.at(-1)!.response as Json;
    if (finalOutput === 'empty') response.output = [];
    if (finalOutput === 'absent') delete response.output;
    return careless.filter((_, at) => at === careless.length - 1 || !dropped.includes(at));
  });

test('however careless the host, the client’s stream obeys the wire and the SDK’s helper reads it', async () => {
  await fc.assert(
    fc.asyncProperty(carelessStreams, fc.integer({ min: 1, max: 2000 }), async (events, pieceBytes) => {
      const relay = mendStream(TERMS);
      const text = relayInPieces(relay, framesOf(events), pieceBytes);
      expect(relay.error).toBeNull();
      expect(faultsOfStream(text)).toEqual([]);
      expect((await accumulate(text)).status).toBe('completed');
    }),
    { numRuns: randomCases(300) },
  );
});

/** The text of all items of a response, in order. */
function wordsIn(output: unknown): string {
  return (output as Json[])
    .map(({ arguments: args, summary, content }) => {
      const parts = [...((summary ?? []) as Json[]), ...((content ?? []) as Json[])];
      return `${args ?? ''}${parts.map(({ text, refusal }) => text ?? refusal ?? '').join('')}`;
    })
    .join('\n');
}

test('however a host numbers its parts and items, every word is sent once, in deltas and in the last event', async () => {
  await fc.assert(
    fc.asyncProperty(misnumberedStreams(STREAMS), async ({ events, misnumbered }) => {
      const said = wordsIn((events.at(-1)!.response as Json).output);
      const text = relayInPieces(mendStream(TERMS), framesOf(misnumbered), 997);
      expect(faultsOfStream(text)).toEqual([]);
      expect(wordsIn((await accumulate(text)).output)).toBe(said);
      const deltas = eventsIn(text).flatMap(({ data }) => (typeof data.delta === 'string' ? [data] : []));
      const byItem = Map.groupBy(deltas, ({ output_index: index }) => index as number);
      const told = [...byItem.keys()].sort().map((index) =>
        byItem
          .get(index)!
          .map(({ delta }) => delta)
          .join(''),
      );
      expect(told.join('\n')).toBe(said);
    }),
    { numRuns: randomCases(300) },
  );
});

test('whatever comes, in whatever order, nothing is thrown and what was sent stays in order', () => {
  const junk = fc.record(
    { type: fc.constantFrom(...STREAMS.flat().map(({ type }) => type)) },
    { noNullPrototype: true },
  );
  const wild = fc.array(
    fc.oneof(
      fc.constantFrom(...STREAMS.flat()),
      junk,
      fc
        .tuple(
          junk,
          fc.dictionary(
            fc.constantFrom('item', 'part', 'delta', 'output_index', 'item_id', 'response'),
            fc.jsonValue(),
          ),
        )
        .map(([one, rest]) => ({ ...one, ...rest })),
    ),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(wild, (events) => {
      const relay = mendStream(TERMS);
      const text = relayInPieces(relay, framesOf(structuredClone(events) as Json[]), 500);
      const numbers = eventsIn(text).map(({ data }) => data.sequence_number);
      expect(numbers).toEqual(numbers.map((_, at) => at));
    }),
    { numRuns: randomCases(300) },
  );
});
