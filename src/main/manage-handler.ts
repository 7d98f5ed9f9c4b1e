import { packageVersion } from '../cli/version.ts';
import { trustedProxies } from '../http1/client-address.ts';
import { ReceiptFeed } from '../ledger/receipt-feed.ts';
import { LIMITS } from '../limits.ts';
import { ManageHandler, type ManageTerms } from '../manage/handler.ts';
import { MANAGE_PREFIX } from '../manage/paths.ts';
import { SignInAttempts } from '../signin/attempts.ts';
import { PasswordQueue } from '../signin/password-queue.ts';
import type { SignInServices } from '../signin/services.ts';
import { SingleSignOn } from '../signin/single-sign-on.ts';
import { isSecure, type ManageParts } from './manage-parts.ts';

/** Who is recognised, and from which pages. */
export type ManagePeople = Pick<
  ManageTerms,
  'directory' | 'clock' | 'localToken' | 'takesCookies' | 'ownOrigins' | 'publicOrigin'
>;

/** The management API with everything that it needs; loaded on demand. */
export function buildManageHandler(parts: ManageParts, people: ManagePeople): ManageHandler {
  const { config, store, clock, log, servicesFor } = parts;
  return new ManageHandler({
    ...people,
    signIn: config.hosted ? signInServices(parts) : null,
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
}

function signInServices({ config, store, clock, ids, log, countSignIn }: ManageParts): SignInServices {
  const { publicUrl, sso } = config;
  const redirectUrl = `${publicUrl}${MANAGE_PREFIX}/sso/callback`;
  return {
    directory: store.directory,
    clock,
    ids,
    attempts: new SignInAttempts(clock, () => countSignIn('limited')),
    passwords: new PasswordQueue(),
    singleSignOn: sso === null || !isSecure(publicUrl) ? null : new SingleSignOn({ settings: sso, redirectUrl, clock }),
    log,
    count: countSignIn,
    unavailable: isSecure(publicUrl)
      ? null
      : 'Nobody can sign in: the session cookie needs https. Set `public_url` to the https address of the gateway.',
  };
}
