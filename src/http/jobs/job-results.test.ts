import { expect, test } from 'vitest';
import type { Caller } from '../../accounts/authenticate.ts';
import { BodyMemory } from '../../gateway/guards/body-memory.ts';
import type { GroupResult, Job } from '../../jobs/jobs.ts';
import { ManualClock } from '../../kit/clock.ts';
import { formatId } from '../../kit/ids.ts';
import { LIMITS } from '../../limits.ts';
import type { PlainRequest, PlainResponse } from '../routes.ts';
import { resultPlaces } from './group-places.ts';
import { jobRoutes } from './job-routes.ts';
import type { JobRouteServices } from './route-services.ts';

const CALLER = { accountId: 1n, keyId: 2n, key: null } as Caller;
const BYTES = LIMITS.bodiesBytesPerKeyMax / 2;

function open(more: object = {}) {
  const resultMemory = new BodyMemory();
  const jobs = {
    find: async () => ({ id: 3n, result: { bytes: BYTES } }) as Job,
    result: async () => ({ status: 200, lines: '', body: Buffer.from('{}') }),
    findGroup: async () => ({ id: 4n, finishedMs: 1 }),
    groupResults: async function* () {
      yield { job: { id: 3n, customId: 'a', state: 'cancelled', errorCode: null }, answer: null } as GroupResult;
    },
    ...more,
  };
  const services = { jobs, resultMemory, resultPlaces: resultPlaces(), clock: new ManualClock(0) };
  const routes = jobRoutes(services as unknown as JobRouteServices);
  const get = (path: string, param: string): Promise<PlainResponse> => {
    const route = routes.find((one) => one.method === 'GET' && one.path === path);
    if (route === undefined || !('answer' in route)) throw new Error(`There is no route ${path}.`);
    return Promise.resolve(route.answer({ caller: CALLER, param, query: '' } as PlainRequest));
  };
  return {
    resultMemory,
    result: () => get('/jobs/*/result', formatId('job_', 3n)),
    group: () => get('/jobs/groups/*/results', formatId('grp_', 4n)),
  };
}

test('results that clients have not read yet are limited by their bytes, and the next is refused', async () => {
  const { resultMemory, result } = open();
  const [first, second] = [await result(), await result()];
  await expect(result()).rejects.toMatchObject({ status: 429, retryAfterS: 1 });
  first.whenSent!();
  const third = await result();
  for (const { whenSent } of [second, third]) whenSent!();
  expect(resultMemory.bytes).toBe(0);
});

test('results of one account are limited together, whichever of its keys read them', async () => {
  const { resultMemory, result } = open();
  for (let key = 10n; resultMemory.take(key, BYTES, CALLER.accountId); key++) expect(key).toBeLessThan(20n);
  resultMemory.free(10n, BYTES, CALLER.accountId);
  await result();
  await expect(result()).rejects.toMatchObject({ status: 429 });
});

test('a stored error says that asking again gives the same, and a stored answer is sent as it is', async () => {
  const body = Buffer.from('{}');
  const stored = (status: number, lines: string) => open({ result: async () => ({ status, lines, body }) }).result();
  const error = await stored(503, 'x-gateway-cost-nanousd: 0\r\nretry-after: 1\r\n');
  expect(error.lines).toBe('x-gateway-cost-nanousd: 0\r\nx-should-retry: false\r\n');
  const once = await stored(402, 'x-should-retry: false\r\n');
  expect(once.lines).toBe('x-should-retry: false\r\n');
  const success = await stored(200, 'x-gateway-cost-nanousd: 5\r\n');
  expect(success.lines).toBe('x-gateway-cost-nanousd: 5\r\n');
});

test('a result that cannot be read takes no memory', async () => {
  const { resultMemory, result } = open({ result: () => Promise.reject(new Error('away')) });
  await expect(result()).rejects.toThrow('away');
  expect(resultMemory.bytes).toBe(0);
});

test('results of groups have few places, which readers give back at the end or when they leave', async () => {
  const { group } = open();
  const bodies: AsyncGenerator<string>[] = [];
  for (let at = 0; at < LIMITS.groupIntakesPerAccountMax; at++)
    bodies.push((await group()).body as AsyncGenerator<string>);
  await expect(group()).rejects.toMatchObject({ status: 429 });
  const [whole, left, ...others] = bodies;
  for await (const piece of whole!) expect(piece).toContain('job_cancelled');
  await left!.next();
  await left!.return(undefined);
  for (let at = 0; at < 2; at++) others.push((await group()).body as AsyncGenerator<string>);
  await expect(group()).rejects.toMatchObject({ status: 429 });
});
