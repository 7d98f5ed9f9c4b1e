import type { MasterKeyring } from '../custody/keyring.ts';
import type { MasterKeys } from '../custody/seal.ts';
import type { HostsHealth } from '../hosts/hosts-health.ts';
import type { Store } from '../store/store.ts';
import type { HostSenders } from './host-senders.ts';
import { refuseLostKey } from './lost-key.ts';
import { catalogFor, rememberPrices } from './prices.ts';
import { directoryOf, type SettingsInForce } from './settings-in-force.ts';
import type { Settings } from './workers/messages.ts';

/** What a reload works on, in one worker. */
export interface ReloadParts {
  readonly store: Store;
  readonly keyring: MasterKeyring;
  readonly inForce: SettingsInForce;
  readonly egress: Pick<HostSenders, 'senderFor' | 'keepOnly'>;
  readonly health: HostsHealth;
}

/** Puts new settings into effect, with the master keys to use from now on, and cannot fail. */
export type UseSettings = (keys: MasterKeys) => void;

/** The other workers of the process. */
export interface OtherWorkers {
  /** Throws if one of them cannot use the settings; then all keep the old ones. */
  prepareReload(settings: Settings): Promise<void>;
  /** They use what they have prepared. */
  finishReload(keys: MasterKeys): Promise<void>;
}

/** New settings take effect in every worker, or in none. The next reload may begin when this one has ended. */
export async function reload(parts: ReloadParts, others: OtherWorkers, settings: Settings): Promise<void> {
  const { keyring, store } = parts;
  const { masterKey } = settings.config;
  if (keyring.wouldMakeKeys(masterKey)) await refuseLostKey(masterKey, store);
  const use = await prepareReload(parts, settings);
  await others.prepareReload(settings);
  // Read once for all workers: a command could print other keys the second time. And read last: an operator may have
  // rotated the keys meanwhile.
  const keys = await keyring.read(masterKey);
  use(keys);
  await others.finishReload(keys);
}

/** Does what can fail in a worker, and changes nothing yet. */
export async function prepareReload(
  { store, keyring, inForce, egress, health }: ReloadParts,
  { config, hosts }: Settings,
): Promise<UseSettings> {
  const prices = await rememberPrices(store, catalogFor(config, hosts));
  return (keys) => {
    keyring.use(keys, config.masterKey);
    inForce.config = config;
    inForce.prices = prices;
    inForce.hosts = directoryOf(hosts, egress, health);
    egress.keepOnly(hosts);
  };
}
