import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';

/** A stream of the responses wire that fails midway reports it in its own sequence of events, whichever wire its host speaks. */

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});

afterAll(async () => {
  await harness.expectCleanBooks();
  await harness.stop();
});

type Event = { type: string; sequence_number: number; response?: { id: string; status: string } };

describe.each(['sim-gpt', 'sim-claude', 'sim-responses'])('a stream of %s that breaks off', (model) => {
  test('ends with an error and a failed response, numbered on, under the id it began with', async () => {
    harness.sim.script({ errorAfterChunks: 6 }, { times: 1 });
    const response = await harness.post({ model, input: 'Hello', stream: true }, {}, '/v1/responses');
    expect(response.status).toBe(200);
    const data = (await response.text()).split('\n').filter((line) => line.startsWith('data: '));
    const events = data.map((line) => JSON.parse(line.slice(6)) as Event);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['error', 'response.failed']);
    const ids = events.flatMap(({ response: told }) => (told === undefined ? [] : [told.id]));
    expect(new Set(ids).size).toBe(1);
    expect(events.at(-1)!.response!.status).toBe('failed');
    await harness.settled();
  });
});
