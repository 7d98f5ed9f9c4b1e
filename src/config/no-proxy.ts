import { BlockList, isIP } from 'node:net';

/** True if requests to this URL go direct, whatever proxy is set. */
type NoProxy = (url: URL) => boolean;

/**
 * Reads NO_PROXY as curl does: names separated by commas or spaces. A name covers itself and its subdomains, with or
 * without a leading dot; `:port` limits it to that port; an address may be a range, like `10.0.0.0/8`; `*` covers everything.
 */
export function readNoProxy(text: string): NoProxy {
  const rules = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map(readEntry);
  return (url) => {
    const host = url.hostname.toLowerCase().replace(/^\[|\]$|\.$/g, '');
    const port = url.port === '' ? DEFAULT_PORTS[url.protocol] : url.port;
    return rules.some((rule) => rule.matches(host) && (rule.port === null || rule.port === port));
  };
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

interface Rule {
  readonly port: string | null;
  matches(host: string): boolean;
}

function readEntry(entry: string): Rule {
  const { name, port } = splitPort(entry);
  if (name === '*') return { port, matches: () => true };
  if (name.includes('/')) return { port, matches: rangeOf(name) };
  const suffix = name.replace(/^\*?\./, '').replace(/\.$/, '');
  return { port, matches: (host) => host === suffix || (isIP(host) === 0 && host.endsWith(`.${suffix}`)) };
}

/** An IPv6 address has colons of its own: its port follows a bracket. */
function splitPort(entry: string): { name: string; port: string | null } {
  const bracketed = /^\[(.*)\](?::(\d+))?$/.exec(entry);
  if (bracketed !== null) return { name: bracketed[1]!, port: bracketed[2] ?? null };
  const plain = /^([^:]*):(\d+)$/.exec(entry);
  return plain === null ? { name: entry, port: null } : { name: plain[1]!, port: plain[2]! };
}

/** A range that cannot be read covers nothing. */
function rangeOf(text: string): (host: string) => boolean {
  const [address = '', bits = ''] = text.split('/');
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
  const size = /^\d{1,3}$/.test(bits) ? Number(bits) : -1;
  if (isIP(address) === 0 || size < 0 || size > (family === 'ipv4' ? 32 : 128)) return () => false;
  const range = new BlockList();
  range.addSubnet(address, size, family);
  return (host) => isIP(host) !== 0 && range.check(host, isIP(host) === 4 ? 'ipv4' : 'ipv6');
}
