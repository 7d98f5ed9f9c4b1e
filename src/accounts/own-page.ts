/** What a browser says about a request and the page that makes it. */
export interface PageRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
}

type PageFault = 'foreign_page' | 'not_json';

/** The type is checked, not only the content, because a form of a foreign page cannot send this type. */
const JSON_TYPE = /^application\/json[ \t]*(?:;.*)?$/i;

export function isJsonType({ headers }: Pick<PageRequest, 'headers'>): boolean {
  return JSON_TYPE.test(headers['content-type'] ?? '');
}

/** A browser names the page that sends a request. Only our own pages are allowed, by scheme, host and port. */
export function isForeignPage({ headers }: Pick<PageRequest, 'headers'>, ownOrigins: readonly string[]): boolean {
  return headers.origin !== undefined && !ownOrigins.includes(headers.origin);
}

/**
 * For requests with a cookie, which a browser adds whichever page sends them: a change must come from our own page, which is
 * reached over https, and be JSON, which no form of another page can send. Null if nothing is wrong.
 */
export function faultOfCookiePage({ method, headers }: PageRequest, publicOrigin: string | null): PageFault | null {
  const { origin, 'sec-fetch-site': site, 'x-forwarded-proto': protocol } = headers;
  const isChange = method !== 'GET';
  if (origin === undefined ? isChange : origin !== publicOrigin) return 'foreign_page';
  if (site !== undefined && site !== 'same-origin' && (isChange || site !== 'none')) return 'foreign_page';
  if (protocol !== undefined && !/(^|[\s,])https$/i.test(protocol)) return 'foreign_page';
  return isChange && !isJsonType({ headers }) ? 'not_json' : null;
}
