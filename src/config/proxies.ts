import type { ConfiguredHost } from '../hosts/host.ts';
import { type HostProxy, PROXY_RULE, parseProxyUrl, proxyName } from '../hosts/proxy.ts';
import type { Environment } from '../hosts/read-key.ts';
import { isLoopback } from '../hosts/schema.ts';
import { Secret } from '../kit/secret.ts';
import { readNoProxy } from './no-proxy.ts';
import { ConfigError, type ConfigProblem } from './problems.ts';
import type { ConfigFile } from './schema.ts';

export type { HostProxy } from '../hosts/proxy.ts';

/** The same hosts, each with the proxy it is reached through: its own `proxy`, else the one of the environment. */
export function withProxies(
  hosts: readonly ConfiguredHost[],
  { hosts: entries }: Pick<ConfigFile, 'hosts'>,
  env: Environment,
  problems: ConfigProblem[],
): ConfiguredHost[] {
  const proxyOfEnvironment = readEnvironment(env, problems);
  return hosts.map((host) => {
    const at = entries.findIndex(({ name }) => name === host.row.name);
    const own = entries[at]?.proxy;
    const url = host.row.simulated ? null : URL.parse(host.row.baseUrl);
    const ofEnvironment = url === null ? null : proxyOfEnvironment(url);
    const proxy = own === undefined ? ofEnvironment : ownProxy(own, `hosts[${at}].proxy`);
    return proxy === null ? host : { ...host, proxy };
  });
}

/** The schema has refused everything else. */
function ownProxy(own: string | false, source: string): HostProxy | null {
  const url = own === false ? null : parseProxyUrl(own);
  return url === null ? null : proxyAt(url, source);
}

/** The proxy of the environment through which a URL is reached; null if it is reached directly. Throws a ConfigError. */
export function proxyFor(url: URL, env: Environment): HostProxy | null {
  const problems: ConfigProblem[] = [];
  const proxy = readEnvironment(env, problems)(url);
  if (problems.length > 0) throw new ConfigError(problems);
  return proxy;
}

type ProxyOf = (url: URL) => HostProxy | null;

function readEnvironment(env: Environment, problems: ConfigProblem[]): ProxyOf {
  const proxies: Record<string, HostProxy | null> = {
    'https:': readVariable('https_proxy', env, problems),
    'http:': readVariable('http_proxy', env, problems),
  };
  const isExcluded = readNoProxy(firstSet('no_proxy', env)?.text ?? '');
  return (url) => {
    // A proxy cannot reach this machine's own loopback addresses.
    if (isLoopback(url.hostname) || isExcluded(url)) return null;
    return proxies[url.protocol] ?? null;
  };
}

function readVariable(name: string, env: Environment, problems: ConfigProblem[]): HostProxy | null {
  const found = firstSet(name, env);
  if (found === null) return null;
  const url = parseProxyUrl(found.text);
  if (url !== null) return proxyAt(url, found.source);
  problems.push({ source: found.source, path: '', message: PROXY_RULE });
  return null;
}

/** The lower-case form wins, as with curl; an empty variable counts as unset. */
function firstSet(name: string, env: Environment): { text: string; source: string } | null {
  for (const source of [name, name.toUpperCase()]) {
    const text = env[source]?.trim();
    if (text) return { text, source };
  }
  return null;
}

function proxyAt(url: URL, source: string): HostProxy {
  return { url: new Secret(url.href), name: proxyName(url), source };
}
