import { isIP } from 'node:net';
import { LIMITS } from '../limits.ts';
import { isLoopback } from './address.ts';
import { ForbiddenUrl } from './forbidden-url.ts';

export interface UrlRules {
  /** In local mode: allows http and https to `localhost` and loopback addresses, at any port. */
  readonly allowLoopback: boolean;
  /** Ports allowed for https elsewhere, so that callers cannot scan other ports from our address. */
  readonly ports: readonly number[];
  /** Names of this gateway itself. */
  readonly ownNames: readonly string[];
}

/** A URL whose text was checked. Its addresses are checked at every connection. */
export interface VettedUrl {
  /** Scheme, host and port; names the connection pool. */
  readonly origin: string;
  readonly secure: boolean;
  /** The name or address to connect to; an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Path and query. */
  readonly path: string;
  /** The host is `localhost` or a loopback address, which is allowed in local mode only. */
  readonly loopback: boolean;
}

/** Names that have a meaning inside one network only. In local mode `localhost` is allowed before this is checked. */
const INNER_SUFFIXES = /(^|\.)(localhost|local|internal|intranet|private|lan|home|corp|arpa|onion|invalid|alt)$/;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const NAME_CHARS_MAX = 253;
const LOCAL_NAME = 'localhost';

/** Checks everything about a URL except its addresses. Throws `ForbiddenUrl`. */
export function readCallerUrl(text: string, rules: UrlRules): VettedUrl {
  refuseDisguises(text);
  const url = parse(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw notHttps(rules);
  refuseExtras(text, url);
  const host = hostOf(url);
  const loopback = meansThisMachine(host);
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  if (loopback && rules.allowLoopback) return vettedUrl(url, host, port, true);
  if (url.protocol !== 'https:') throw notHttps(rules);
  // Address literals are checked later, together with the addresses of names.
  if (isIP(host) === 0) refuseName(host, rules.ownNames);
  if (!rules.ports.includes(port)) {
    throw new ForbiddenUrl('port', `The URL's port is ${port}; it must be one of ${rules.ports.join(', ')}.`);
  }
  return vettedUrl(url, host, port, false);
}

/** True for `localhost` and loopback addresses. A name that only resolves to loopback does not count. */
export function meansThisMachine(host: string): boolean {
  return host === LOCAL_NAME || (isIP(host) !== 0 && isLoopback(host));
}

function vettedUrl(url: URL, host: string, port: number, loopback: boolean): VettedUrl {
  const secure = url.protocol === 'https:';
  return { origin: url.origin, secure, host, port, path: url.pathname + url.search, loopback };
}

/** Refuses text that URL parsers silently correct, each in its own way. */
function refuseDisguises(text: string): void {
  if (text.length > LIMITS.urlCharsMax) {
    throw new ForbiddenUrl('malformed', `The URL is longer than ${LIMITS.urlCharsMax} characters.`);
  }
  if (!/^[!-~]*$/.test(text)) {
    throw new ForbiddenUrl(
      'malformed',
      'The URL contains spaces, control characters or non-ASCII characters; write an international host name in its xn-- form.',
    );
  }
  if (text.includes('\\')) throw new ForbiddenUrl('malformed', 'The URL contains a backslash; use "/".');
  if (/^https?:/i.test(text) && !/^https?:\/\/[^/?#]/i.test(text)) {
    throw new ForbiddenUrl('malformed', 'The URL must begin with https:// and a host.');
  }
}

function parse(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw new ForbiddenUrl('malformed', 'Not a URL; it must look like https://host/path.');
  }
}

function notHttps({ allowLoopback }: UrlRules): ForbiddenUrl {
  const exception = allowLoopback ? ' (http:// is allowed to this machine only)' : '';
  return new ForbiddenUrl('scheme', `The URL must begin with https://${exception}.`);
}

/** Checks the text too, because the parser drops an empty user name and an empty fragment. */
function refuseExtras(text: string, url: URL): void {
  const authority = /^[^:]*:\/\/([^/?#]*)/.exec(text)?.[1] ?? '';
  if (authority.includes('@') || url.username !== '' || url.password !== '') {
    throw new ForbiddenUrl('credentials', 'The URL contains a user name or password; remove it.');
  }
  if (text.includes('#')) throw new ForbiddenUrl('fragment', 'The URL contains a fragment ("#…"); remove it.');
  if (url.port === '0') throw new ForbiddenUrl('port', "The URL's port is 0, which is not a valid port.");
}

function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

function refuseName(name: string, ownNames: readonly string[]): void {
  if (name.endsWith('.')) throw badName('ends in a dot; remove the dot');
  if (name.length > NAME_CHARS_MAX || !name.split('.').every((label) => LABEL.test(label))) {
    throw badName('is invalid: each part must have 1 to 63 letters, digits and dashes');
  }
  if (INNER_SUFFIXES.test(name)) throw badName('is valid inside one network only; use a public name');
  if (!name.includes('.')) throw badName('has only one part; use the full name');
  if (ownNames.includes(name)) throw new ForbiddenUrl('own_listener', 'The URL leads to this gateway itself.');
}

function badName(what: string): ForbiddenUrl {
  return new ForbiddenUrl('host_name', `The URL's host name ${what}.`);
}
