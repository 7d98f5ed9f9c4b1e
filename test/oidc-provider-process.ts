import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type GrantContext } from 'oidc-provider';

/**
 * A real OpenID Connect provider in a process of its own, for tests of single sign-on. Whoever signs in is named by the
 * address that the browser asks for, `/interaction/…?as=NAME`; without a name it gets a page with a link for each. Consent is given.
 */
interface Settings {
  readonly redirectUrl: string;
  /** Claims by name; the name is the subject. */
  readonly people: Readonly<Record<string, object>>;
}

const { redirectUrl, people } = JSON.parse(process.argv[2]!) as Settings;
const PAGE = `<title>Sign in</title>${Object.keys(people).map((name) => `<p><a href="?as=${name}">${name}</a>`)}`;
const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: 'tollgate', client_secret: 'of the test', redirect_uris: [redirectUrl] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_context: unknown, name: string) => ({
      accountId: name,
      claims: () => ({ sub: name, ...people[name] }),
    }),
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    cookies: { keys: ['only for this test'] },
    loadExistingGrant: async ({ oidc }: GrantContext) => {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  const answer = provider.callback();
  server.on('request', (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', issuer);
    if (!pathname.startsWith('/interaction/')) answer(request, response);
    else if (!searchParams.has('as')) response.setHeader('content-type', 'text/html').end(PAGE);
    else void provider.interactionFinished(request, response, { login: { accountId: searchParams.get('as') ?? '' } });
  });
  process.stdout.write(`${issuer}\n`);
});
