import type * as Oidc from 'openid-client';
import type { Clock } from '../kit/clock.ts';
import type { Secret } from '../kit/secret.ts';
import { LIMITS } from '../limits.ts';
import type { SsoIdentity } from '../store/people.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { SignInError } from './error.ts';
import { beginSso, readSsoState, type SsoState } from './sso-state.ts';

interface SsoSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  /** Domains of email addresses whose people need no invitation, in lower case. */
  readonly allowedDomains: readonly string[];
}

/** What the provider says about the person who signed in there. */
export interface ProvenIdentity {
  readonly identity: SsoIdentity;
  /** Null unless the provider has verified it. */
  readonly verifiedEmail: string | null;
  readonly name: string | null;
  /** The person who asked to link the identity; null for signing in. */
  readonly linkPersonId: bigint | null;
}

interface SsoTerms {
  readonly settings: SsoSettings;
  /** Where the provider sends the browser back to. */
  readonly redirectUrl: string;
  readonly clock: Clock;
}

/** Loaded by the first sign-in, so that the gateway starts faster. */
function loadOidc(): Promise<typeof Oidc> {
  return import('openid-client');
}

/** OpenID Connect with the authorization code, PKCE, state and nonce. */
export class SingleSignOn {
  readonly settings: SsoSettings;
  readonly #redirectUrl: string;
  readonly #clock: Clock;
  #discovered: { readonly client: Promise<Oidc.Configuration>; readonly atMs: number } | null = null;
  /** States whose answer has come, until they expire. */
  readonly #used = new Map<string, number>();

  constructor({ settings, redirectUrl, clock }: SsoTerms) {
    this.settings = settings;
    this.#redirectUrl = redirectUrl;
    this.#clock = clock;
  }

  /** Answers of the provider that are remembered, so that none is used twice. */
  get size(): number {
    return this.#used.size;
  }

  /** Where to send the browser, and the cookie that binds the answer to it. */
  async start(linkPersonId: bigint | null): Promise<{ readonly url: string; readonly cookie: string }> {
    const [oidc, client] = await Promise.all([loadOidc(), this.#client()]);
    const { state, cookie } = beginSso(this.#clock.nowMs(), linkPersonId);
    const url = oidc.buildAuthorizationUrl(client, {
      redirect_uri: this.#redirectUrl,
      scope: 'openid email profile',
      state: state.state,
      nonce: state.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(state.codeVerifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, cookie };
  }

  /** What this browser began and the answer belongs to. It is checked before anything else of the query is looked at. */
  begunBy(cookies: string | undefined, query: URLSearchParams): SsoState {
    const begun = readSsoState(cookies, this.#clock.nowMs());
    if (begun === null || query.getAll('state').join() !== begun.state || !this.#takes(begun)) throw notBegunHere();
    return begun;
  }

  /** Reads the provider's answer. */
  async finish(begun: SsoState, query: URLSearchParams): Promise<ProvenIdentity> {
    const [oidc, client] = await Promise.all([loadOidc(), this.#client()]);
    const tokens = await oidc.authorizationCodeGrant(client, new URL(`${this.#redirectUrl}?${query}`), {
      pkceCodeVerifier: begun.codeVerifier,
      expectedState: begun.state,
      expectedNonce: begun.nonce,
      idTokenExpected: true,
    });
    const { iss: issuer, sub: subject, ...claims } = tokens.claims()!;
    if (subject.length > LIMITS.ssoSubjectCharsMax) throw new Error('The subject of the ID token is too long.');
    // Many providers put the address only into the second answer.
    const profile =
      claims.email === undefined ? await oidc.fetchUserInfo(client, tokens.access_token, subject) : claims;
    const isVerified = profile.email_verified === true && typeof profile.email === 'string';
    return {
      identity: { issuer, subject },
      verifiedEmail: isVerified ? String(profile.email) : null,
      name: typeof profile.name === 'string' ? profile.name : null,
      linkPersonId: begun.linkPersonId,
    };
  }

  /** False for a state that was used before. Another process may not know that, but the provider's code works only once. */
  #takes({ state, startedMs }: SsoState): boolean {
    const nowMs = this.#clock.nowMs();
    for (const [used, untilMs] of this.#used) if (untilMs <= nowMs) this.#used.delete(used);
    if (this.#used.has(state)) return false;
    if (this.#used.size >= LIMITS.ssoUsedStatesMax) this.#used.delete(this.#used.keys().next().value!);
    this.#used.set(state, startedMs + LIMITS.ssoMs);
    return true;
  }

  /** What the provider publishes about itself is read again from time to time, and at once after a failure. */
  #client(): Promise<Oidc.Configuration> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#discovered !== null && nowMs - this.#discovered.atMs < LIMITS.ssoDiscoveryMs)
      return this.#discovered.client;
    const client = discover(this.settings);
    const discovered = { client, atMs: nowMs };
    this.#discovered = discovered;
    client.catch(() => {
      if (this.#discovered === discovered) this.#discovered = null;
    });
    return client;
  }
}

async function discover({ issuer, clientId, clientSecret }: SsoSettings): Promise<Oidc.Configuration> {
  const oidc = await loadOidc();
  const url = new URL(issuer);
  // The configuration allows http only for a provider on this machine.
  const execute = url.protocol === 'http:' ? [oidc.allowInsecureRequests] : [];
  const timeout = LIMITS.ssoRequestMs / 1000;
  const found = await oidc.discovery(url, clientId, undefined, oidc.None(), {
    execute,
    timeout,
    [oidc.customFetch]: boundedFetch,
  });
  const methods = found.serverMetadata().token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const secret = clientSecret.reveal();
  const auth = methods.includes('client_secret_basic') ? oidc.ClientSecretBasic(secret) : oidc.ClientSecretPost(secret);
  const client = new oidc.Configuration(found.serverMetadata(), clientId, undefined, auth);
  client.timeout = timeout;
  client[oidc.customFetch] = boundedFetch;
  for (const allow of execute) allow(client);
  return client;
}

function notBegunHere(): SignInError {
  return new SignInError(
    'sso_refused',
    'This answer does not belong to a sign-in that this browser began in the last few minutes. Start again.',
  );
}
