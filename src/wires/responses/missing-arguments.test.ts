import { describe, expect, test } from 'vitest';
import {
  billFor,
  eventsIn,
  faultsOfStream,
  framesOf,
  type Json,
  readWithSdk,
  relayInPieces,
  TERMS,
} from '../../../test/responses-stream.ts';
import { mendStream } from './mend.ts';
import { spliceResponse } from './splice-response.ts';

const CALL = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'go' };
const PLACE = { item_id: 'fc_1', output_index: 0 };
const ADDED = { type: 'response.output_item.added', output_index: 0, item: { ...CALL, arguments: '' } };
const WORDS_DONE = { type: 'response.function_call_arguments.done', ...PLACE, name: 'go', arguments: '' };

function delta(text: string): Json {
  return { type: 'response.function_call_arguments.delta', ...PLACE, delta: text };
}

function itemDone(members: Json): Json {
  return { type: 'response.output_item.done', output_index: 0, item: { ...CALL, ...members } };
}

function ended(status: string, output: readonly Json[] = []): Json {
  const response = { id: 'resp_1', object: 'response', created_at: 1, status, model: 'any', output };
  return { type: `response.${status}`, response };
}

function relayed(...events: readonly Json[]): string {
  const text = relayInPieces(mendStream(TERMS), framesOf(events), 70);
  expect(faultsOfStream(text)).toEqual([]);
  return text;
}

async function callIn(text: string): Promise<unknown> {
  const { output } = (await readWithSdk(text)).final;
  expect(output).toHaveLength(1);
  return output[0];
}

describe('a call that ends without arguments', () => {
  const item = { arguments: '', status: 'completed' };

  test.each([
    ['by all its events', [ADDED, WORDS_DONE, itemDone(item), ended('completed', [{ ...CALL, ...item }])]],
    ['by its end alone', [ADDED, itemDone(item), ended('completed')]],
    ['by nothing', [ADDED, ended('completed')]],
    ['only in the last event', [ended('completed', [{ ...CALL, ...item }])]],
  ])('has an empty object for clients that parse it, told %s', async (_, events) => {
    const text = relayed(...events);
    expect(await callIn(text)).toMatchObject({ name: 'go', arguments: '{}', status: 'completed' });
    const told = eventsIn(text).map(({ data }) => data);
    expect(told.filter(({ delta: words }) => words !== undefined)).toMatchObject([{ delta: '{}' }]);
    expect(told.filter(({ type }) => type === WORDS_DONE.type)).toMatchObject([{ arguments: '{}', name: 'go' }]);
  });

  test('has those of its deltas if only its end leaves them out', async () => {
    const text = relayed(ADDED, delta('{"a"'), delta(':1}'), itemDone({ status: 'completed' }), ended('completed'));
    expect(await callIn(text)).toMatchObject({ arguments: '{"a":1}' });
  });

  test('stays as it is if the output limit cut it off', async () => {
    const cut = { arguments: '', status: 'incomplete' };
    const text = relayed(ADDED, WORDS_DONE, itemDone(cut), ended('incomplete', [{ ...CALL, ...cut }]));
    expect(await callIn(text)).toMatchObject(cut);
  });

  test.each([
    ['was announced', [ADDED]],
    ['comes only in the last event', []],
  ])('stays as it is if only the end of the response says that it was cut off: it %s', async (_, events) => {
    const text = relayed(...events, ended('incomplete', [{ ...CALL, arguments: '' }]));
    expect(await callIn(text)).toMatchObject({ arguments: '' });
  });

  test('keeps what was sent of its arguments, however the response ends', async () => {
    const text = relayed(ADDED, delta('{"a"'), ended('incomplete', [{ ...CALL, arguments: '' }]));
    expect(await callIn(text)).toMatchObject({ arguments: '{"a"' });
  });

  test('has an empty object in a buffered response, unless that is incomplete', () => {
    const argumentsIn = (status: string): unknown => {
      const { response } = ended(status, [{ ...CALL, arguments: '' }]);
      const written = spliceResponse(Buffer.from(JSON.stringify(response)), TERMS).write(billFor());
      return JSON.parse(written.toString()).output[0].arguments;
    };
    expect(argumentsIn('completed')).toBe('{}');
    expect(argumentsIn('incomplete')).toBe('');
  });
});
