import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { systemClock } from '../kit/clock.ts';
import { Secret } from '../kit/secret.ts';
import { LIMITS } from '../limits.ts';
import { SingleSignOn } from './single-sign-on.ts';

test.each(['discovery', 'tokens'] as const)(
  'an answer of the provider that is too long is not read: %s',
  async (which) => {
    const padding = 'x'.repeat(LIMITS.ssoAnswerBytesMax);
    const lying = createServer((request, response) => {
      const isDiscovery = request.url?.startsWith('/.well-known/') === true;
      const metadata = { issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` };
      const body = isDiscovery ? metadata : { error: 'invalid_grant' };
      response.writeHead(isDiscovery ? 200 : 400, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isDiscovery === (which === 'discovery') ? { ...body, padding } : body));
    });
    lying.listen(0, '127.0.0.1');
    await once(lying, 'listening');
    const issuer = `http://127.0.0.1:${(lying.address() as AddressInfo).port}`;
    const settings = { issuer, clientId: 'tollgate', clientSecret: new Secret('of the test'), allowedDomains: [] };
    const singleSignOn = new SingleSignOn({ settings, redirectUrl: `${issuer}/callback`, clock: systemClock });
    const failing = async (): Promise<unknown> => {
      const { url, cookie } = await singleSignOn.start(null);
      const query = new URLSearchParams({ code: 'any', state: new URL(url).searchParams.get('state')! });
      return singleSignOn.finish(singleSignOn.begunBy(cookie.split(';')[0]!, query), query);
    };
    const failure = await failing().catch((error: unknown) => error);
    expect([failure, (failure as Error).cause].map(String).join()).toContain('too long');
    lying.close();
  },
);
