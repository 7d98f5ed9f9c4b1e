import type { InboundRequest } from '../http1/server.ts';
import { ManageError } from './error.ts';
import { requireJsonType } from './request-body.ts';

/** A browser names the page that asks. Only our own pages may, by scheme, host and port. */
export function refuseForeignPage({ headers }: InboundRequest, ownOrigins: readonly string[]): void {
  if (headers.origin !== undefined && !ownOrigins.includes(headers.origin)) throw foreignPage();
}

/**
 * For requests with a cookie, which a browser adds whoever asks: a change must come from our own page, which is
 * reached over https, and be JSON, which no form of another page can send.
 */
export function requireOwnPage({ method, headers }: InboundRequest, publicOrigin: string | null): void {
  const { origin, 'sec-fetch-site': site, 'x-forwarded-proto': protocol } = headers;
  const isChange = method !== 'GET';
  if (origin === undefined ? isChange : origin !== publicOrigin) throw foreignPage();
  if (site !== undefined && site !== 'same-origin' && (isChange || site !== 'none')) throw foreignPage();
  if (protocol !== undefined && !/(^|[\s,])https$/i.test(protocol)) throw foreignPage();
  if (isChange) requireJsonType(headers);
}

function foreignPage(): ManageError {
  return new ManageError(
    403,
    'forbidden_origin',
    'Only pages of this gateway may use the management API, under its `public_url`.',
  );
}
