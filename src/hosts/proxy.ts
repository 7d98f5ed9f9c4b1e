import type { Secret } from '../kit/secret.ts';

/** The HTTP proxy that requests to a host go through. */
export interface HostProxy {
  /** May contain a user and a password. */
  readonly url: Secret;
  /** The same without them, for messages. */
  readonly name: string;
  /** The variable or field it came from. */
  readonly source: string;
}

export const PROXY_RULE =
  'must be an http or https proxy, like "http://proxy.example:3128" or "http://user:password@proxy.example:3128"';

/** Null if the text does not name a proxy. Without a scheme it is taken as http, as other tools do. */
export function parseProxyUrl(text: string): URL | null {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null || url.hostname === '' || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  const isBare = url.pathname === '/' && url.search === '' && url.hash === '';
  return isBare && isDecodable(url.username) && isDecodable(url.password) ? url : null;
}

export function proxyName(url: URL): string {
  return `${url.protocol}//${url.host}`;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
