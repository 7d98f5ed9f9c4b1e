import { randomBytes } from 'node:crypto';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageVersion } from '../cli/version.ts';
import type { Config } from '../config/config.ts';
import { trustedProxies } from '../http1/client-address.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { MANAGE_PREFIX, ManageHandler } from '../manage/handler.ts';
import type { Actor } from '../operator/actor.ts';
import type { OperatorServices } from '../operator/operator.ts';
import { SignInAttempts } from '../signin/attempts.ts';
import { PasswordQueue } from '../signin/password-queue.ts';
import type { SignInServices } from '../signin/services.ts';
import { SingleSignOn } from '../signin/single-sign-on.ts';
import type { Store } from '../store/store.ts';

export interface ManageParts {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: { next(): bigint };
  readonly log: Log;
  servicesFor(actor: Actor): OperatorServices;
  /** The address that the server listens on; null until it does. */
  url(): string | null;
}

export interface Management {
  readonly handler: ManageHandler;
  close(): void;
}

/** The management API. In local mode, whoever can read the token in the data folder is the operator. */
export function openManagement(parts: ManageParts): Management {
  const { config, store, clock, log, servicesFor, url } = parts;
  const file = join(config.dataFolder, 'console.token');
  const localToken = config.hosted ? null : randomBytes(32).toString('base64url');
  if (localToken !== null) writeToken(file, localToken);
  const { publicUrl } = config;
  const ownOrigins = (): string[] => [...originsOf(url()), ...(publicUrl === null ? [] : [publicUrl])];
  const signIn = config.hosted ? signInServices(parts) : null;
  const handler = new ManageHandler({
    directory: store.directory,
    clock,
    localToken,
    takesCookies: signIn !== null && signIn.unavailable === null,
    signIn,
    publicOrigin: publicUrl,
    isTrustedProxy: trustedProxies(config.trustedProxies),
    log,
    servicesFor,
    ownOrigins,
    version: packageVersion(),
  });
  return {
    handler,
    close: () => {
      if (localToken !== null) rmSync(file, { force: true });
    },
  };
}

/** A session cookie may only travel over https, so people sign in only where the public address has it. */
function signInServices({ config, store, clock, ids, log }: ManageParts): SignInServices {
  const { publicUrl, sso } = config;
  const isSecure = publicUrl?.startsWith('https:') === true;
  const redirectUrl = `${publicUrl}${MANAGE_PREFIX}/sso/callback`;
  return {
    directory: store.directory,
    clock,
    ids,
    attempts: new SignInAttempts(clock),
    passwords: new PasswordQueue(),
    singleSignOn: sso === null || !isSecure ? null : new SingleSignOn({ settings: sso, redirectUrl, clock }),
    log,
    unavailable: isSecure
      ? null
      : 'Nobody can sign in: the session cookie needs https. Set `public_url` to the https address of the gateway.',
  };
}

/** A file that is there keeps its mode, so the mode is set again. */
function writeToken(file: string, token: string): void {
  rmSync(file, { force: true });
  writeFileSync(file, `${token}\n`, { mode: 0o600, flag: 'wx' });
  chmodSync(file, 0o600);
}

/** A browser calls the loopback address by either name, and they are different origins. */
function originsOf(url: string | null): string[] {
  if (url === null) return [];
  const { origin, port } = new URL(url);
  return [origin, `http://localhost:${port}`];
}
