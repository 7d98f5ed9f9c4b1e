import type { Config } from '../config/config.ts';
import type { PricedCatalog } from '../gateway/gateway.ts';
import { HostDirectory } from '../hosts/directory.ts';
import type { ConfiguredHost } from '../hosts/host.ts';
import type { HostsHealth } from '../hosts/hosts-health.ts';
import type { Store } from '../store/store.ts';
import type { HostSenders } from './host-senders.ts';
import { catalogFor, rememberPrices } from './prices.ts';
import type { Settings } from './workers/messages.ts';

/** What a reload replaces. */
export interface SettingsInForce {
  /** Settings that need a restart stay as they were at the start, whatever this says. */
  config: Config;
  prices: PricedCatalog;
  hosts: HostDirectory;
}

/** The settings of the start, in one worker. */
export async function openSettingsInForce(
  { config, hosts }: Settings,
  store: Store,
  egress: HostSenders,
  health: HostsHealth,
): Promise<SettingsInForce> {
  const prices = await rememberPrices(store, catalogFor(config, hosts));
  return { config, prices, hosts: directoryOf(hosts, egress, health) };
}

export function directoryOf(
  hosts: readonly ConfiguredHost[],
  egress: Pick<HostSenders, 'senderFor'>,
  health: HostsHealth,
): HostDirectory {
  return new HostDirectory(hosts, (host) => egress.senderFor(host), health);
}
