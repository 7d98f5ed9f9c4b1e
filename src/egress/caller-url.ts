import { isIP } from 'node:net';
import { LIMITS } from '../limits.ts';
import { isLoopback } from './address.ts';
import { ForbiddenUrl } from './forbidden-url.ts';

export interface UrlRules {
  /** Local mode: http and https to `localhost` or a loopback address, at any port. */
  readonly allowLoopback: boolean;
  /** Where else https may be spoken: a caller must not knock at other doors from our address. */
  readonly ports: readonly number[];
  /** Names under which this gateway itself is reached. */
  readonly ownNames: readonly string[];
}

/** A URL that may be called as far as it can be read; its addresses are judged at every dial. */
export interface VettedUrl {
  /** Scheme, host and port as a pool of connections is named. */
  readonly origin: string;
  readonly secure: boolean;
  /** The name or address to connect to, an IPv6 address without its brackets. */
  readonly host: string;
  readonly port: number;
  /** Path and query, as they go into a request. */
  readonly path: string;
  /** The host itself says that it means this machine; only then may it, and only in local mode. */
  readonly loopback: boolean;
}

/** Names that mean something inside one network only; `localhost` has a rule of its own. */
const INNER_SUFFIXES = /(^|\.)(localhost|local|internal|intranet|private|lan|home|corp|arpa|onion|invalid|alt)$/;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const NAME_CHARS_MAX = 253;
const LOCAL_NAME = 'localhost';

/** Judges all of a URL that can be judged without asking for its addresses; throws `ForbiddenUrl`. */
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
  // An address is judged with those that names resolve to.
  if (isIP(host) === 0) refuseName(host, rules.ownNames);
  if (!rules.ports.includes(port)) {
    throw new ForbiddenUrl('port', `The URL's port is ${port}; it must be one of ${rules.ports.join(', ')}.`);
  }
  return vettedUrl(url, host, port, false);
}

/** Said by the host itself; a name that merely resolves to loopback does not count. */
export function meansThisMachine(host: string): boolean {
  return host === LOCAL_NAME || (isIP(host) !== 0 && isLoopback(host));
}

function vettedUrl(url: URL, host: string, port: number, loopback: boolean): VettedUrl {
  const secure = url.protocol === 'https:';
  return { origin: url.origin, secure, host, port, path: url.pathname + url.search, loopback };
}

/** A parser would repair these in silence, and two parsers differently. */
function refuseDisguises(text: string): void {
  if (text.length > LIMITS.urlCharsMax) {
    throw new ForbiddenUrl('malformed', `The URL is longer than ${LIMITS.urlCharsMax} characters.`);
  }
  if (!/^[!-~]*$/.test(text)) {
    throw new ForbiddenUrl(
      'malformed',
      'The URL holds spaces, control characters or letters beyond ASCII; write a foreign host name in its xn-- form.',
    );
  }
  if (text.includes('\\')) throw new ForbiddenUrl('malformed', 'The URL holds a backslash; write "/".');
  if (/^https?:/i.test(text) && !/^https?:\/\/[^/?#]/i.test(text)) {
    throw new ForbiddenUrl('malformed', 'The URL must begin with https:// and a host.');
  }
}

function parse(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw new ForbiddenUrl('malformed', 'This is no URL; it must look like https://host/path.');
  }
}

function notHttps({ allowLoopback }: UrlRules): ForbiddenUrl {
  const but = allowLoopback ? ' (http:// only to this machine itself)' : '';
  return new ForbiddenUrl('scheme', `The URL must begin with https://${but}.`);
}

/** Looks at what was written too: a parser forgets an empty user name and an empty fragment. */
function refuseExtras(text: string, url: URL): void {
  const authority = /^[^:]*:\/\/([^/?#]*)/.exec(text)?.[1] ?? '';
  if (authority.includes('@') || url.username !== '' || url.password !== '') {
    throw new ForbiddenUrl('credentials', 'The URL holds a user name or password before its host; leave them out.');
  }
  if (text.includes('#')) throw new ForbiddenUrl('fragment', 'The URL holds a fragment ("#…"); leave it out.');
  if (url.port === '0') throw new ForbiddenUrl('port', "The URL's port is 0, which nothing listens at.");
}

function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

function refuseName(name: string, ownNames: readonly string[]): void {
  if (name.endsWith('.')) throw badName('ends in a dot; write it without');
  if (name.length > NAME_CHARS_MAX || !name.split('.').every((label) => LABEL.test(label))) {
    throw badName('is none: its parts are 1 to 63 letters, digits and dashes');
  }
  if (INNER_SUFFIXES.test(name)) throw badName('means something inside one network only; give a public one');
  if (!name.includes('.')) throw badName('has only one part; give it in full');
  if (ownNames.includes(name)) throw new ForbiddenUrl('own_listener', 'The URL leads to this gateway itself.');
}

function badName(what: string): ForbiddenUrl {
  return new ForbiddenUrl('host_name', `The URL's host name ${what}.`);
}
