import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../canonical/errors.ts';
import type { GroupRequest, JobGroup, SingleSubmission, Submission } from '../../jobs/jobs.ts';
import { ManualClock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { BodyLines } from '../body-lines.ts';
import type { PlainRequest } from '../routes.ts';
import { intakePlaces } from './group-places.ts';
import { receiveGroup } from './receive-group.ts';
import type { JobRouteServices } from './route-services.ts';

const SUBMISSION = { caller: { accountId: 7n } } as unknown as Submission;
const JSONL = 'application/jsonl';

/** The service's side of an intake: what it was given, and how it ended. */
function openServices(refusedLine = 0, usedHash: string | null = null) {
  const slices: GroupRequest[][] = [];
  const ends: string[] = [];
  const terms: unknown[] = [];
  const hashes: string[] = [];
  const jobs = {
    openGroup: async (_: Submission, given: unknown) => {
      terms.push(given);
      return {
        add: async (requests: Iterable<GroupRequest>) => {
          const slice = [...requests];
          slices.push(slice);
          const refused = slice.find(({ line }) => line === refusedLine);
          if (refused !== undefined)
            throw new GatewayError('model_not_found', { message: `Line ${refused.line}: no.` });
        },
        accept: async (hash: Uint8Array) => {
          ends.push('accepted');
          hashes.push(Buffer.from(hash).toString('hex'));
          return { accepted: { id: 1n } as JobGroup, replayed: false };
        },
        abandon: async () => void ends.push('abandoned'),
      };
    },
    isKeyUsed: async () => usedHash !== null,
    findRepeatedGroup: async ({ bodySha256 }: SingleSubmission) =>
      Buffer.from(bodySha256).toString('hex') === usedHash ? ({ id: 5n } as JobGroup) : null,
  };
  const services = {
    jobs,
    endpoints: ['/v1/messages'],
    intakePlaces: intakePlaces(),
    clock: new ManualClock(0),
  } as unknown as JobRouteServices;
  return { services, slices, ends, terms, hashes };
}

function request(body: string, type: string, query = ''): PlainRequest {
  const source = {
    read: (reader: { data(piece: Buffer): void; end(): void }) => {
      reader.data(Buffer.from(body));
      reader.end();
    },
    pause: () => {},
    resume: () => {},
  };
  return {
    headers: { 'content-type': type },
    query,
    incoming: {
      lines: (limits: ConstructorParameters<typeof BodyLines>[1]) => new BodyLines(source, limits),
      whole: async () => Buffer.from(body),
    },
  } as unknown as PlainRequest;
}

const lineOf = (id: string | number): string =>
  JSON.stringify({ custom_id: String(id), method: 'POST', url: '/v1/messages', body: { at: id } });
const linesOf = (count: number): string => Array.from({ length: count }, (_, at) => `${lineOf(at + 1)}\n`).join('');

describe('a group', () => {
  test('is stored in slices, in the order of its lines, and accepted at the end', async () => {
    const { services, slices, ends } = openServices();
    await receiveGroup(services, request(linesOf(1_100), JSONL), SUBMISSION);
    expect(slices.map(({ length }) => length)).toEqual([LIMITS.jobSliceLinesMax, LIMITS.jobSliceLinesMax, 76]);
    expect(slices.flat().map(({ line }) => line)).toEqual(Array.from({ length: 1_100 }, (_, at) => at + 1));
    expect(slices[0]![0]).toMatchObject({ customId: '1', endpoint: '/v1/messages', body: Buffer.from('{"at":1}') });
    expect(ends).toEqual(['accepted']);
  });

  test('is the same as JSON Lines and in one object, with the same hash', async () => {
    const lines = openServices();
    await receiveGroup(lines.services, request(linesOf(2), JSONL, 'result_ttl_seconds=60'), SUBMISSION);
    const whole = openServices();
    const body = `{"requests":[${lineOf(1)},${lineOf(2)}],"result_ttl_seconds":60}`;
    await receiveGroup(whole.services, request(body, 'application/json'), SUBMISSION);
    expect(whole.slices).toEqual(lines.slices);
    expect(whole.terms).toEqual(lines.terms);
    expect(whole.hashes).toEqual(lines.hashes);
    const others = openServices();
    await receiveGroup(others.services, request(linesOf(3), JSONL, 'result_ttl_seconds=60'), SUBMISSION);
    expect(others.hashes).not.toEqual(lines.hashes);
  });

  test.each<[string, string, string, string, string | null]>([
    ['a line that is not JSON', `${lineOf(1)}\n{\n`, 'invalid_request_body', 'Line 2: ', null],
    [
      'an id twice',
      `${lineOf(1)}\n\n${lineOf(1)}\n`,
      'invalid_value',
      'Line 3: `custom_id` is the same as that of line 1',
      'custom_id',
    ],
    ['a line for another route', lineOf(1).replace('messages', 'images'), 'invalid_value', 'Line 1: `url`', 'url'],
    ['no lines', '\n \n', 'invalid_request_body', 'no requests', null],
  ])('with %s is refused, and nothing of it is kept', async (_, body, kind, message, param) => {
    const { services, ends } = openServices();
    const taken = receiveGroup(services, request(body, JSONL), SUBMISSION);
    await expect(taken).rejects.toMatchObject({ kind, param, message: expect.stringContaining(message) });
    expect(ends).toEqual(['abandoned']);
  });

  test('that the jobs refuse is abandoned, and the next one finds a place', async () => {
    const { services, ends } = openServices(2);
    for (let round = 0; round < LIMITS.groupIntakesMax + 1; round++)
      await expect(receiveGroup(services, request(linesOf(3), JSONL), SUBMISSION)).rejects.toMatchObject({
        kind: 'model_not_found',
      });
    expect(new Set(ends)).toEqual(new Set(['abandoned']));
  });

  test('that was accepted before under its idempotency key is answered as then, though a line is refused now', async () => {
    const first = openServices();
    await receiveGroup(first.services, request(linesOf(1_100), JSONL), SUBMISSION);
    const { services, ends } = openServices(2, first.hashes[0]);
    const again = await receiveGroup(services, request(linesOf(1_100), JSONL), SUBMISSION);
    expect([again.accepted.id, again.replayed, ends]).toEqual([5n, true, ['abandoned']]);
    await expect(receiveGroup(services, request(linesOf(1_101), JSONL), SUBMISSION)).rejects.toMatchObject({
      kind: 'model_not_found',
    });
  });

  test.each<[string, string, string, string]>([
    ['an unknown member', '{"requests":[],"priority":1}', 'unsupported_parameter', 'priority'],
    ['no requests', '{}', 'missing_required_parameter', 'requests'],
    ['requests that are no list', '{"requests":{}}', 'invalid_value', 'requests'],
    ['a term in query and body', `{"requests":[${lineOf(1)}],"webhook":"a"}`, 'invalid_value', 'webhook'],
  ])('in one object with %s is refused', async (_, body, kind, param) => {
    const { services } = openServices();
    const given = request(body, 'application/json', 'webhook=b');
    await expect(receiveGroup(services, given, SUBMISSION)).rejects.toMatchObject({ kind, param });
  });

  test.each([
    ['a batch file', linesOf(2)],
    ['something else', '[]'],
  ])('that is %s as plain JSON is refused with the content type of a batch file', async (_, body) => {
    const taken = receiveGroup(openServices().services, request(body, 'application/json'), SUBMISSION);
    const message = expect.stringMatching(/For a batch file, send `content-type: application\/jsonl`\.$/);
    await expect(taken).rejects.toMatchObject({ kind: 'invalid_request_body', message });
  });

  test('may have times with an offset in its query, whose plus sign a query turns into a space', async () => {
    const { services, terms } = openServices();
    const query = 'not_before=1970-01-02T02:00:00+02:00&expires_at=1970-01-03T02:00:00%2B02:00';
    await receiveGroup(services, request(linesOf(1), JSONL, query), SUBMISSION);
    expect(terms).toMatchObject([{ notBeforeMs: 86_400_000, expiresMs: 2 * 86_400_000 }]);
  });

  test('waits for a place: only so many of one account, and of all, are taken in at once', () => {
    const places = intakePlaces();
    const back: (() => void)[] = [];
    const fill = (account: bigint): void => {
      for (let at = 0; at < LIMITS.groupIntakesPerAccountMax; at++) back.push(places.take(account));
    };
    fill(1n);
    expect(() => places.take(1n)).toThrow(expect.objectContaining({ kind: 'rate_limit_exceeded' }));
    fill(2n);
    // The rest is for accounts that have no place.
    back.push(places.take(3n));
    expect(() => places.take(3n)).toThrow(expect.objectContaining({ kind: 'overloaded' }));
    for (let account = 4n; back.length < LIMITS.groupIntakesMax; account++) back.push(places.take(account));
    expect(() => places.take(99n)).toThrow(expect.objectContaining({ kind: 'overloaded' }));
    for (const give of back) give();
    expect(() => places.take(1n)).not.toThrow();
  });
});
