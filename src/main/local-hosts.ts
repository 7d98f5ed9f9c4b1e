import type { Config } from '../config/config.ts';
import { findLocalHosts } from '../hosts/find-local.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';

/** The same config with the models that local servers listed, and with local servers that were found running. */
export async function withLocalHosts(config: Config, clock: Clock, log: Pick<Log, 'warn'> | null): Promise<Config> {
  const { hosts, silent } = await findLocalHosts(config.hosts, config.guessedHosts, clock);
  if (silent.length > 0) log?.warn({ hosts: silent }, 'Local hosts did not list their models; are they running?');
  return { ...config, hosts };
}
