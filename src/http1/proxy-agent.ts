import type { buildConnector, Pool, ProxyAgent } from 'undici';
import { LIMITS } from '../limits.ts';
import { undici } from './load-undici.ts';

/** A proxy for every request of a client. */
export interface ClientProxy {
  /** It may hold a user and a password. */
  readonly url: string;
  /** The same without them, for messages. */
  readonly name: string;
}

/** Pools for origins behind a proxy: tunnels (CONNECT) to https origins, requests in absolute form to http ones. */
export function proxyAgent(url: string, options: Pool.Options): ProxyAgent {
  const { Pool, ProxyAgent } = undici();
  return new ProxyAgent({
    uri: url,
    connectTimeout: LIMITS.hostConnectMs,
    requestTls: { allowH2: false },
    factory: (origin, given) => new Pool(origin, { ...options, connect: connectorOf(given) }),
    // Without a limit here, a proxy that accepts connections but never answers would stop every call to its hosts.
    clientFactory: (origin, given) =>
      new Pool(origin, { connect: connectorOf(given), headersTimeout: LIMITS.hostConnectMs, allowH2: false }),
  });
}

/** Undici passes its own connector, to the proxy or through it. */
function connectorOf(given: object): buildConnector.connector {
  return (given as { readonly connect: buildConnector.connector }).connect;
}

/** Says in the message of an error that a proxy was involved. */
export function throughProxy(error: Error, proxyName: string): Error {
  const { code } = error as NodeJS.ErrnoException;
  return Object.assign(new Error(`Through the proxy ${proxyName}: ${error.message}`), { code });
}
