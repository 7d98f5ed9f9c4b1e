import type { HostAddress } from './host.ts';
import type { Environment } from './read-key.ts';

interface FoundAddress {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** The variable it came from. */
  readonly source: string;
}

/** An invalid address in a variable. Names the variable, never its value. */
export class AddressUnreadable extends Error {
  override readonly name = 'AddressUnreadable';
}

/** The address in the first variable that is set; null if none is. */
export function readAddress(address: HostAddress, env: Environment): FoundAddress | null {
  for (const source of address.variables) {
    const text = env[source]?.trim();
    if (text) return { baseUrl: readBaseUrl(text, address, source), source };
  }
  return null;
}

/** The usual address of a local server. */
export function usualAddress({ path, port }: HostAddress): string {
  return `http://127.0.0.1:${port}${path}`;
}

function readBaseUrl(text: string, { path, port }: HostAddress, source: string): string {
  const url = URL.parse(withScheme(text, port));
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!isPlain || url.hostname === '' || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new AddressUnreadable(`${source} must be an address like "${exampleOf(path, port)}"`);
  }
  return dialable(url) + wholePath(url.pathname, path, source);
}

/** Local servers are often named without a scheme, and then by their usual port. */
function withScheme(text: string, port: number | null): string {
  if (port === null || text.includes('://')) return text;
  const slash = text.indexOf('/');
  const host = slash === -1 ? text : text.slice(0, slash);
  const isWithPort = /:\d+$/.test(host);
  const named = host.startsWith(':') ? `127.0.0.1${host}` : host;
  return `http://${isWithPort ? named : `${named}:${port}`}${slash === -1 ? '' : text.slice(slash)}`;
}

/** The same variable tells a server where to listen; a server that listens on all addresses is called on loopback. */
function dialable(url: URL): string {
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  if (url.hostname === '[::]') url.hostname = '[::1]';
  return url.origin;
}

/** The path may be left out, whole or in part; any other path is refused. */
function wholePath(given: string, path: string, source: string): string {
  const bare = given.replace(/\/+$/, '');
  if (bare.endsWith(path)) return bare;
  if (bare === '' || path.startsWith(`${bare}/`)) return path;
  throw new AddressUnreadable(`${source} must end in "${path}", or be the address without any path`);
}

function exampleOf(path: string, port: number | null): string {
  return port === null ? `https://resource.example${path}` : `http://localhost:${port}${path}`;
}
