import type { Principal } from '../../accounts/principal.ts';
import type { InboundRequest } from '../../http1/server.ts';
import { SignInError } from '../../signin/error.ts';
import type { OwnSession } from '../../signin/own-sessions.ts';
import { requireSignIn, type SignInServices, type Visitor } from '../../signin/services.ts';
import { endedSsoCookie } from '../../signin/sso-state.ts';
import { ManageError, unauthenticated } from '../error.ts';
import { requireOwnPage } from '../own-page.ts';
import { readInput } from '../request-input.ts';
import type { ManageResponse } from '../response.ts';
import type { FoundRoute } from '../routes.ts';
import type { SignInRoute } from './routes.ts';

interface Asking {
  readonly principal: Principal | null;
  /** Whose request it is now, after a body that took long to arrive. */
  recogniseAgain(): Promise<Principal | null>;
  readonly visitor: Visitor;
  readonly services: SignInServices;
  readonly publicOrigin: string | null;
}

/** Our own page is required even before anybody has a session: otherwise another page could sign a browser in as somebody else. */
export async function answerSignIn(
  request: InboundRequest,
  found: FoundRoute<SignInRoute>,
  query: URLSearchParams,
  { principal, recogniseAgain, visitor, services, publicOrigin }: Asking,
): Promise<ManageResponse> {
  const { route } = found;
  if (route.access === 'signed in' && principal === null) throw unauthenticated();
  if (route.method !== 'GET') requireSignIn(services);
  const isNavigation = route.access === 'everybody' && route.isNavigation === true;
  if (!isNavigation) requireOwnPage(request, publicOrigin);
  const isLate = !request.complete;
  const call = { services, visitor, query, input: await readInput(request, found, query) };
  const principalNow = isLate ? await recogniseAgain() : principal;
  if (route.access === 'signed in' && principalNow === null) throw unauthenticated();
  const own = ownSession(principalNow);
  if (isNavigation && acceptsPage(request)) return orBackToConsole(() => route.run(call, own));
  if (route.access === 'everybody') return route.run(call, own);
  if (own === null) throw new ManageError(403, 'permission_denied', 'Only a person who has signed in has sessions.');
  return route.run(call, own);
}

function acceptsPage({ headers }: InboundRequest): boolean {
  return headers.accept?.includes('text/html') === true;
}

/** A browser would show the error as JSON, so the console says in its own words what the code means. */
async function orBackToConsole(run: () => Promise<ManageResponse>): Promise<ManageResponse> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof SignInError)) throw error;
    const location = `/console?sso=${error.code}`;
    return { status: 303, body: {}, headers: { location }, cookies: [endedSsoCookie()] };
  }
}

function ownSession(principal: Principal | null): OwnSession | null {
  if (principal === null || principal.sessionId === null || principal.actor.id === null) return null;
  return { personId: principal.actor.id, email: principal.actor.name, sessionId: principal.sessionId };
}
