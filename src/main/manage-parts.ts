import type { PageGate } from '../accounts/authenticate-page.ts';
import type { Config } from '../config/config.ts';
import type { ConnectionLimit } from '../http1/connection-limit.ts';
import type { Caches } from '../kit/caches.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import type { Actor } from '../operator/actor.ts';
import type { OperatorServices } from '../operator/operator.ts';
import type { SignInOutcome } from '../signin/services.ts';
import type { Store } from '../store/store.ts';

/** What the management API is built from. */
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
  readonly caches: Caches;
  countSignIn(outcome: SignInOutcome): void;
  draining(): boolean;
  /** The key that a page has chosen, unless it is revoked or has expired. */
  findKey: PageGate['findKey'];
}

/** A session cookie may only travel over https, so people sign in only where the public address has it. */
export function isSecure(publicUrl: string | null): boolean {
  return publicUrl?.startsWith('https:') === true;
}
