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
  const { config, store, clock, log, caches, servicesFor } = parts;
  const idLeadMs = config.limits.requestMs + LIMITS.storeIdLagMs;
  const receiptFeed = new ReceiptFeed({ reads: store.callFeed, clock, idLeadMs });
  caches.add('receipt_feed_channels', LIMITS.receiptFeedChannelsMax, () => receiptFeed.channels);
  return new ManageHandler({
    ...people,
    signIn: config.hosted ? signInServices(parts) : null,
    isTrustedProxy: trustedProxies(config.trustedProxies),
    receiptFeed,
    log,
    servicesFor,
    version: packageVersion(),
  });
}

function signInServices({ config, store, clock, ids, log, caches, countSignIn }: ManageParts): SignInServices {
  const { publicUrl, sso } = config;
  const redirectUrl = `${publicUrl}${MANAGE_PREFIX}/sso/callback`;
  const attempts = new SignInAttempts(clock, () => countSignIn('limited'));
  const singleSignOn =
    sso === null || !isSecure(publicUrl) ? null : new SingleSignOn({ settings: sso, redirectUrl, clock });
  caches.add('sign_in_counters', LIMITS.signInCountersMax, () => attempts.size);
  if (singleSignOn !== null) caches.add('sso_states', LIMITS.ssoUsedStatesMax, () => singleSignOn.size);
  return {
    directory: store.directory,
    clock,
    ids,
    attempts,
    passwords: new PasswordQueue(),
    singleSignOn,
    log,
    count: countSignIn,
    unavailable: isSecure(publicUrl)
      ? null
      : 'Nobody can sign in: the session cookie needs https. Set `public_url` to the https address of the gateway.',
  };
}
