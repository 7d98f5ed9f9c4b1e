import { Resolver } from 'node:dns/promises';
import { LIMITS } from '../limits.ts';

/** All addresses of a name, in the order they should be tried; empty if there are none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** Which name servers to ask, as `address` or `address:port`; without any, the machine's own. */
export interface ResolverTerms {
  readonly servers?: readonly string[];
}

/**
 * Asks name servers, never the machine's table of hosts: what stands there is inside. And never through `getaddrinfo`:
 * it has four threads, and names that answer slowly would make every other lookup of this process wait.
 */
export function createResolver({ servers }: ResolverTerms = {}): Resolve {
  const resolver = new Resolver({ timeout: LIMITS.callerUrlLookupTryMs, tries: LIMITS.callerUrlLookupTries });
  if (servers !== undefined) resolver.setServers([...servers]);
  return async (name) => {
    const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  };
}
