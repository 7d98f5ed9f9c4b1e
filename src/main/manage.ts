import type { PageGate } from '../accounts/authenticate-page.ts';
import { packageVersion } from '../cli/version.ts';
import type { Config } from '../config/config.ts';
import { buildConsole } from '../http/console.ts';
import { trustedProxies } from '../http1/client-address.ts';
import type { ConnectionLimit } from '../http1/connection-limit.ts';
import type { HttpServer } from '../http1/server.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { ReceiptFeed } from '../ledger/receipt-feed.ts';
import { LIMITS } from '../limits.ts';
import { MANAGE_PREFIX, ManageHandler } from '../manage/handler.ts';
import type { Actor } from '../operator/actor.ts';
import type { OperatorServices } from '../operator/operator.ts';
import { SignInAttempts } from '../signin/attempts.ts';
import { PasswordQueue } from '../signin/password-queue.ts';
import type { SignInOutcome, SignInServices } from '../signin/services.ts';
import { SingleSignOn } from '../signin/single-sign-on.ts';
import type { Store } from '../store/store.ts';
import { HTTP_SERVERS } from './http-servers.ts';
import { openLocalToken } from './local-token.ts';

export interface ManageParts {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: { next(): bigint };
  readonly log: Log;
  servicesFor(actor: Actor): OperatorServices;
  /** The address of the port that serves the API; null until it listens. */
  url(): string | null;
  /** Shared with the callers' port: both use the file descriptors of this process. */
  readonly connectionLimit: ConnectionLimit;
  countSignIn(outcome: SignInOutcome): void;
  draining(): boolean;
  /** The key that a page has chosen, unless it is revoked or has expired. */
  findKey: PageGate['findKey'];
}

export interface Management {
  /** Lets the pages of this gateway make calls; null if there are none. */
  readonly page: PageGate | null;
  /** Null if the callers' port does not serve the API. */
  readonly onCallersPort: ManageHandler | null;
  /** Null unless the API has a port of its own. */
  readonly server: HttpServer | null;
  /** Ends the responses that would go on for ever, before the servers are closed. */
  endFeeds(): void;
}

const NOT_SERVED: Management = {
  page: null,
  onCallersPort: null,
  server: null,
  endFeeds: () => undefined,
};

/** The management API. In local mode, whoever can read the token in the data folder is the operator. */
export function openManagement(parts: ManageParts): Management {
  const { config, store, clock, log, servicesFor, url, findKey } = parts;
  if (!config.console) return NOT_SERVED;
  const localToken = config.hosted ? null : openLocalToken(config.dataFolder);
  const { publicUrl } = config;
  const ownOrigins = (): string[] => [...originsOf(url()), ...(publicUrl === null ? [] : [publicUrl])];
  const signIn = config.hosted ? signInServices(parts) : null;
  const takesCookies = signIn !== null && signIn.unavailable === null;
  const people = { directory: store.directory, clock, localToken, takesCookies, ownOrigins, publicOrigin: publicUrl };
  const handler = new ManageHandler({
    ...people,
    signIn,
    isTrustedProxy: trustedProxies(config.trustedProxies),
    receiptFeed: new ReceiptFeed({
      reads: store.callFeed,
      clock,
      idLeadMs: config.limits.requestMs + LIMITS.storeIdLagMs,
    }),
    log,
    servicesFor,
    version: packageVersion(),
  });
  const hasOwnPort = config.listen.consolePort !== null;
  return {
    page: { ...people, findKey },
    onCallersPort: hasOwnPort ? null : handler,
    server: hasOwnPort ? consoleServer(parts, handler) : null,
    endFeeds: () => handler.endFeeds(),
  };
}

function consoleServer({ config, ids, connectionLimit, draining }: ManageParts, manage: ManageHandler): HttpServer {
  return buildConsole({
    createHttpServer: HTTP_SERVERS[config.transport],
    manage,
    ids,
    local: !config.hosted,
    timeouts: config.limits,
    connections: connectionLimit,
    draining,
  });
}

/** A session cookie may only travel over https, so people sign in only where the public address has it. */
function signInServices({ config, store, clock, ids, log, countSignIn }: ManageParts): SignInServices {
  const { publicUrl, sso } = config;
  const isSecure = publicUrl?.startsWith('https:') === true;
  const redirectUrl = `${publicUrl}${MANAGE_PREFIX}/sso/callback`;
  return {
    directory: store.directory,
    clock,
    ids,
    attempts: new SignInAttempts(clock, () => countSignIn('limited')),
    passwords: new PasswordQueue(),
    singleSignOn: sso === null || !isSecure ? null : new SingleSignOn({ settings: sso, redirectUrl, clock }),
    log,
    count: countSignIn,
    unavailable: isSecure
      ? null
      : 'Nobody can sign in: the session cookie needs https. Set `public_url` to the https address of the gateway.',
  };
}

/** A browser calls the loopback address by either name, and they are different origins. */
function originsOf(url: string | null): string[] {
  if (url === null) return [];
  const { origin, port } = new URL(url);
  return [origin, `http://localhost:${port}`];
}
