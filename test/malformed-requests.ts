import fc from 'fast-check';
import { MANAGE_ROUTES } from '../src/manage/routes.ts';
import { SIGN_IN_ROUTES } from '../src/manage/sign-in/routes.ts';
import type { Store } from '../src/store/store.ts';
import { anyQuery } from './any-url.ts';

interface MalformedRequest {
  readonly method: string;
  /** Below `/manage/v1`, with the query. */
  readonly path: string;
  readonly body: string | Uint8Array<ArrayBuffer>;
}

/** Requests to every route that no client would send. Those that could be valid by chance are left out. */
export function malformedRequests(account: string): fc.Arbitrary<MalformedRequest> {
  const text = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.json({ maxDepth: 3 }),
    fc.constantFrom('{', '[]', 'null', '{"name":"\u0000"}', '{"name":1,"name":2}', '\uFEFF{}'),
  );
  const part = fc.oneof(fc.constantFrom('unknown', account, '..', '%00', '%2F', '-1', '__proto__'), fc.base64String());
  return (
    fc
      .record({
        route: fc.constantFrom(
          ...MANAGE_ROUTES.filter(({ verb }) => verb !== 'people.invite'),
          ...SIGN_IN_ROUTES.filter(({ path }) => path !== '/sign-out'),
        ),
        part,
        query: fc.oneof(fc.constant(''), anyQuery, fc.constantFrom('format=csv', 'format=', 'limit=1e3')),
        body: fc.oneof(text, fc.uint8Array({ maxLength: 40 })),
      })
      // An empty body is valid there, and the account exists.
      .filter(({ route, part }) => !STATE_CHANGES.includes(route.path) || part !== account)
      .map(({ route, part, query, body }) => ({
        method: route.method,
        path: `${route.path.replaceAll(/\{\w+\}/g, encodeURIComponent(part).slice(0, 80))}?${query}`,
        body: body as MalformedRequest['body'],
      }))
  );
}

const STATE_CHANGES = ['suspend', 'resume', 'close'].map((change) => `/accounts/{account}/${change}`);

/** Sends it and returns the status. */
export async function sendMalformed(
  url: string,
  { method, path, body }: MalformedRequest,
  headers: Record<string, string>,
): Promise<number> {
  const withBody = method === 'GET' || method === 'DELETE' ? {} : { body };
  const response = await fetch(`${url}/manage/v1${path}`, { method, headers, ...withBody });
  // A feed has no end.
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) await response.body!.cancel();
  else await response.text();
  return response.status;
}

/** Everything that a management request could have changed, but for names of accounts that happen to be valid. */
export async function managedState(store: Store): Promise<object> {
  const page = { after: null, limit: 100 };
  return {
    // Earlier calls may still be noted as uses of a key.
    keys: (await store.listKeys(null, page)).map(({ usedMs: _, ...key }) => key),
    people: await store.directory.listPeople(page),
    invitations: await store.directory.listInvitations(null, page),
    managementKeys: (await store.directory.listManagementKeys(null, page)).map(({ usedMs: _, ...key }) => key),
    providerKeys: await store.providerKeysAfter(null, 100),
    balances: (await store.listAccounts(page)).filter(({ balanceNanousd }) => balanceNanousd !== 0n),
  };
}
