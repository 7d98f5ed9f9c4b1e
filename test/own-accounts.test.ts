import { afterAll, beforeAll, expect, test } from 'vitest';
import { ACCOUNT_PREFIX } from '../src/canonical/id-prefixes.ts';
import { formatId } from '../src/kit/ids.ts';
import { type Harness, startHarness } from './harness.ts';
import { enrol, openSession, PUBLIC_URL } from './people.ts';

let harness: Harness;
let cookie: string;
let accounts: string[];

beforeAll(async () => {
  harness = await startHarness({ hosted: true, config: { publicUrl: PUBLIC_URL } });
  const ids: bigint[] = [];
  for (let count = 0; count < 4; count++) ids.push((await harness.mint()).accountId);
  const [first, second, third] = ids as [bigint, bigint, bigint, bigint];
  const { books } = harness.running;
  const roles = [
    [third, 'viewer'],
    [first, 'owner'],
    [second, 'member'],
  ] as const;
  cookie = await openSession(books, await enrol(books, 'ada@example.com', { roles }));
  accounts = [first, second, third].map((id) => formatId(ACCOUNT_PREFIX, id));
});
afterAll(() => harness.stop());

async function ask(path: string): Promise<{ status: number; ids?: string[]; next?: string | null; message?: string }> {
  const response = await harness.get(`/manage/v1${path}`, { cookie });
  const body = (await response.json()) as {
    data?: { id: string }[];
    next?: string | null;
    error?: { message: string };
  };
  if (body.error !== undefined) return { status: response.status, message: body.error.message };
  return { status: response.status, ids: body.data?.map(({ id }) => id) ?? [], next: body.next ?? null };
}

test('people read the accounts in which they have a role page by page, as operators read all', async () => {
  expect(await ask('/accounts')).toEqual({ status: 200, ids: accounts, next: null });
  const page = await ask('/accounts?limit=2');
  expect(page).toEqual({ status: 200, ids: accounts.slice(0, 2), next: accounts[1] });
  expect(await ask(`/accounts?limit=2&after=${page.next}`)).toEqual({ status: 200, ids: [accounts[2]], next: null });
  const file = await harness.get('/manage/v1/accounts?format=csv&limit=1', { cookie });
  expect((await file.text()).trim().split('\r\n')).toHaveLength(2);
});

test.each(['/accounts?colour=red', '/me?colour=red'])(
  '%s is refused by the name of what is not known',
  async (path) => {
    expect(await ask(path)).toEqual({ status: 400, message: 'The input has unknown fields: colour.' });
  },
);

test('a limit or a place that is not one is refused', async () => {
  expect(await ask('/accounts?limit=0')).toMatchObject({ status: 400 });
  expect(await ask('/accounts?after=nothing')).toMatchObject({ status: 400 });
});
