import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../src/kit/clock.ts';
import { DESCRIBED } from '../src/manage/openapi/sign-in-paths.ts';
import { EXAMPLE_IDS, EXAMPLE_SECRET } from '../src/manage/schema-fields.ts';
import { commandLine } from '../src/operator/actor.ts';
import { type OperatorServices, runVerb } from '../src/operator/operator.ts';
import { type Harness, startHarness } from './harness.ts';
import { cookieOf, PUBLIC_URL } from './people.ts';

let harness: Harness;
let cookie = '';
/** What to write instead of the ids and the secret of the examples. */
const real = new Map<string, string>();

beforeAll(async () => {
  harness = await startHarness({ hosted: true, config: { publicUrl: PUBLIC_URL } });
  const services = { ...harness.running.books, clock: systemClock, actor: commandLine(), publicUrl: PUBLIC_URL };
  const invited = await runVerb(services as unknown as OperatorServices, 'people.invite', { email: 'ada@example.com' });
  real.set(EXAMPLE_SECRET, (invited as { secret: string }).secret);
});
afterAll(() => harness.stop());

function otherSessionIn(body: unknown): string {
  return (body as { data: { id: string; current: boolean }[] }).data.find(({ current }) => !current)!.id;
}

/** Those that need a provider of single sign-on are in test/single-sign-on.test.ts. */
const NEEDS_PROVIDER = ['GET /sso/start', 'GET /sso/callback', 'POST /sso/link'];
/** In the order of their use: each needs what the previous one created. */
const IN_ORDER = [
  'GET /sign-in',
  'POST /invitations/read',
  'POST /invitations/accept',
  'POST /sign-in',
  'GET /me/sessions',
  'DELETE /me/sessions/{session}',
  'POST /me/password',
  'POST /sign-in',
  'POST /sign-out',
];

test('every route with which people sign in has an example that is sent here', () => {
  expect(Object.keys(DESCRIBED).toSorted()).toEqual([...new Set([...IN_ORDER, ...NEEDS_PROVIDER])].toSorted());
  const withoutInput = Object.entries(DESCRIBED).filter(([, { input, exampleInput }]) => !input !== !exampleInput);
  const withoutOutput = Object.entries(DESCRIBED).filter(
    ([, { response, exampleOutput }]) => !response !== !exampleOutput,
  );
  expect([withoutInput, withoutOutput]).toEqual([[], []]);
});

test('the examples of signing in work on a real server, and are answered as described', async () => {
  let password = '';
  for (const name of IN_ORDER) {
    const { status, response, exampleInput = {} } = DESCRIBED[name]!;
    const [method, path] = name.split(' ') as [string, string];
    const input = Object.fromEntries(
      Object.entries(exampleInput).map(([member, value]) => [member, real.get(value) ?? value]),
    );
    if (name === 'POST /sign-in' && password !== '') input.password = password;
    const answer = await fetch(`${harness.url}/manage/v1${path.replace('{session}', input.session ?? '')}`, {
      method,
      // A browser that signs in again replaces its session, so another browser does.
      headers: {
        cookie: name === 'POST /sign-in' ? '' : cookie,
        origin: PUBLIC_URL,
        'content-type': 'application/json',
      },
      ...(method === 'POST' && { body: JSON.stringify(input) }),
    });
    const body: unknown = await answer.json();
    expect([name, answer.status, body]).toEqual([name, Number(status), expect.anything()]);
    expect(z.strictObject((response as z.ZodObject).shape).safeParse(body).error, name).toBeUndefined();
    if (answer.headers.getSetCookie().length > 0 && name !== 'POST /sign-out') cookie = cookieOf(answer);
    if (name === 'GET /me/sessions') real.set(EXAMPLE_IDS.session, otherSessionIn(body));
    if (name === 'POST /me/password') password = exampleInput.password!;
  }
});
