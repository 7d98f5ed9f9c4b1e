import { Resolver } from 'node:dns/promises';
import { LIMITS } from '../limits.ts';

/** All addresses of a name, in the order to try them. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** Name servers, as `address` or `address:port`; by default those of the machine. */
interface ResolverTerms {
  readonly servers?: readonly string[];
}

/**
 * Asks name servers. It does not read the machine's hosts file, which lists internal machines, and does not use
 * `getaddrinfo`, which has four threads: slow names would delay every other lookup of this process.
 */
export function createResolver({ servers }: ResolverTerms = {}): Resolve {
  const resolver = new Resolver({ timeout: LIMITS.callerUrlLookupTryMs, tries: LIMITS.callerUrlLookupTries });
  if (servers !== undefined) resolver.setServers([...servers]);
  return async (name) => {
    const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  };
}
