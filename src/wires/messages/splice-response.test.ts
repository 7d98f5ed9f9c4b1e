import { describe, expect, test } from 'vitest';
import { allRecordings, expectedUsage, toldBy } from '../../../test/messages-recordings.ts';
import { billOf, relayWhole, TERMS } from '../../../test/messages-relay.ts';
import { toldByAnswer } from '../../../test/messages-summary.ts';
import { inOrder } from '../../canonical/event-order.ts';
import { ResponseFold } from '../../canonical/fold.ts';
import { ZERO_USAGE } from '../../canonical/usage.ts';
import { HostResponseBroken } from '../wire.ts';
import { mendStream } from './mend.ts';
import { readResponse } from './read-response.ts';
import { responseAsStream } from './response-as-stream.ts';
import { spliceResponse } from './splice-response.ts';

const { recordings } = allRecordings();
const answers = recordings.filter(({ mode, status }) => mode === 'buffered' && status === 200);

describe.each(answers.map((recording) => [recording.id, recording] as const))('%s', (_id, recording) => {
  const usage = expectedUsage(recording);

  test('is read with its usage, and written with the catalog’s model and the bill', () => {
    const answer = spliceResponse(recording.body, TERMS);
    expect(answer.usage).toEqual({ state: 'reported', usage });
    const written = answer.write(billOf(usage)).toString();
    const message = JSON.parse(written);
    expect(message).toMatchObject({ type: 'message', role: 'assistant', model: TERMS.catalogModel });
    expect(written).toContain(`"cost":1.5,"cost_nanousd":${2n ** 60n + 8n}}`);
    expect(message.usage).toMatchObject({ input_tokens: usage.freshTokens, output_tokens: usage.outputTokens });
    for (const name of ['inference_geo', 'server_tool_use', 'service_tier', 'speed', 'output_tokens_details']) {
      expect(message.usage).toHaveProperty(name);
    }
    expect(toldBy('buffered', written).stop).toMatch(/^(end_turn|tool_use)$/);
    if (!recording.careless) expect(toldBy('buffered', written)).toEqual(toldBy('buffered', recording.body));
  });

  test('folds into what the host said', () => {
    const fold = new ResponseFold();
    readResponse(recording.body, {}, inOrder(fold.event));
    const answer = fold.answer()!;
    expect(answer.usage).toEqual({ state: 'reported', usage });
    if (!recording.careless) expect(toldByAnswer(answer)).toEqual(toldBy('buffered', recording.body));
  });

  test('becomes the stream that was asked for', () => {
    const client = relayWhole(mendStream(TERMS), responseAsStream(recording.body)!, 64);
    const written = spliceResponse(recording.body, TERMS).write(billOf(usage));
    expect(toldBy('stream', client)).toEqual(toldBy('buffered', written));
  });
});

const TOOLS = answers.find(({ id }) => id === 'whole-tools')!;
const CARELESS = answers.find(({ id }) => id === 'whole-careless')!;

test('bytes beside model and usage stay as the host wrote them', () => {
  const written = spliceResponse(TOOLS.body, TERMS).write(billOf(ZERO_USAGE)).toString();
  const content = TOOLS.body.toString().slice(TOOLS.body.indexOf('"content"'), TOOLS.body.indexOf('"usage"'));
  expect(written).toContain(content);
  expect(content).toContain('12345678901234567890, "rate": 1.50');
});

test.each(['{"id": 12345678901234567890, "rate": 1.50}', JSON.stringify('{"id": 12345678901234567890, "rate": 1.50}')])(
  'the input %s of a call stays as the host wrote it, although the response is mended',
  (input) => {
    const block = `{"type":"tool_use","id":"t","name":"find","input":${input}}`;
    const body = `{"provider":"p","content":[{"type":"text","text":"a"},${block}],"usage":{"input_tokens":1,"output_tokens":1}}`;
    const written = spliceResponse(Buffer.from(body), TERMS).write(billOf(ZERO_USAGE)).toString();
    expect(written).toContain('"input":{"id": 12345678901234567890, "rate": 1.50}');
    expect(JSON.parse(written)).toMatchObject({ stop_reason: 'tool_use', content: [{ text: 'a' }, { id: 't' }] });
  },
);

test.each(answers.map(({ id, body }) => [id, body] as const))(
  '%s has every member of the vendor’s types',
  (_id, body) => {
    const message = JSON.parse(spliceResponse(body, TERMS).write(billOf(ZERO_USAGE)).toString());
    for (const name of ['stop_sequence', 'stop_details', 'container', 'diagnostics'])
      expect(message).toHaveProperty(name);
  },
);

test('arguments reach the hub with every digit', () => {
  const fold = new ResponseFold();
  readResponse(TOOLS.body, {}, inOrder(fold.event));
  expect(fold.answer()!.blocks[2]!.text).toBe('{"ticket": 12345678901234567890, "rate": 1.50}');
});

test('what a host left out is filled in, and its own bill is taken out', () => {
  const message = JSON.parse(spliceResponse(CARELESS.body, TERMS).write(billOf(ZERO_USAGE)).toString());
  expect(message).toMatchObject({
    id: `msg_${TERMS.requestId}`,
    stop_reason: 'tool_use',
    stop_sequence: null,
    content: [
      { type: 'text', text: '' },
      { type: 'tool_use', id: `toolu_${TERMS.requestId}_1`, name: 'tide', input: { harbour: 'Kaap' } },
    ],
    usage: { cost: 1.5 },
  });
  expect(message).not.toHaveProperty('provider');
});

test('absent usage is missing, not zero; invalid counts are a defect', () => {
  const usageOf = (usage: unknown) => spliceResponse(Buffer.from(JSON.stringify({ content: [], usage })), TERMS).usage;
  expect(usageOf(undefined)).toEqual({ state: 'missing' });
  expect(usageOf({ input_tokens: 0, output_tokens: 0 })).toEqual({ state: 'reported', usage: ZERO_USAGE });
  expect(usageOf({ input_tokens: -1, output_tokens: 0 })).toMatchObject({
    state: 'missing',
    defect: expect.any(String),
  });
});

test.each(['not json', '[]', '{"choices":[]}', '{"content":"text"}', ''])(
  '%j is not a response of this wire',
  (body) => {
    expect(() => spliceResponse(Buffer.from(body), TERMS)).toThrow(HostResponseBroken);
    expect(() => readResponse(Buffer.from(body), {}, () => {})).toThrow(HostResponseBroken);
    expect(responseAsStream(Buffer.from(body))).toBeNull();
  },
);

test('an error where an answer should be is understood as one', () => {
  const body = Buffer.from('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}');
  expect.assertions(3);
  try {
    spliceResponse(body, TERMS);
  } catch (error) {
    expect((error as HostResponseBroken).hostError).toMatchObject({ kind: 'unavailable', status: 529 });
  }
  const relay = mendStream(TERMS);
  expect(() => relayWhole(relay, responseAsStream(body)!, 64)).toThrow('no usage');
  expect(relay.error).toMatchObject({ status: 529 });
});
