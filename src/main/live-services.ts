import type { Alerts } from '../alerts/alerts.ts';
import { snakeCased } from '../cli/snake-case.ts';
import { packageVersion } from '../cli/version.ts';
import type { Config } from '../config/config.ts';
import type { Custody } from '../custody/custody.ts';
import type { HostsHealth } from '../hosts/hosts-health.ts';
import type { Clock } from '../kit/clock.ts';
import type { LiveServices } from '../operator/live-services.ts';
import { VerifyTask } from '../operator/verify-task.ts';
import { freeBytes } from './disk-space.ts';
import type { SettingsInForce } from './settings-in-force.ts';

export interface LiveParts {
  /** As it was at the start. */
  readonly config: Config;
  readonly inForce: Readonly<Pick<SettingsInForce, 'config'>>;
  readonly clock: Clock;
  readonly custody: Custody;
  readonly alerts: Alerts;
  readonly health: Pick<HostsHealth, 'report'>;
}

/** What the verbs can use only in a running server. */
export function liveServices({ config, inForce, clock, custody, alerts, health }: LiveParts): LiveServices {
  return {
    version: packageVersion(),
    custody,
    alerts,
    verification: new VerifyTask(clock),
    running: new Map(),
    hosts: () => health.report(),
    settings: () => settingsView(shownConfig(config, inForce.config)),
    settingSources: () => sourcesView(shownConfig(config, inForce.config)),
    diskFreeBytes: () => freeBytes(config.dataFolder).catch(() => null),
  };
}

/** Of the settings that are shown, a reload changes only the default model. */
function shownConfig(started: Config, { defaultModel, settingSources }: Config): Config {
  const sources = new Map(started.settingSources);
  const source = settingSources.get('default_model');
  if (source === undefined) sources.delete('default_model');
  else sources.set('default_model', source);
  return { ...started, defaultModel, settingSources: sources };
}

/** Settings whose name in the view differs from that in the config file, because the file has them in another unit. */
const NAMES_IN_FILE: Readonly<Record<string, string>> = {
  'load_limits.heap_share': 'load_limits.heap_percent',
  'load_limits.resident_bytes': 'load_limits.memory_mb',
  'load_limits.calls_under_way': 'load_limits.calls',
  'load_limits.ledger_depth': 'load_limits.ledger_queue',
  'alerts.disk_free_bytes': 'alerts.disk_free_mb',
};

/** Where each shown setting that is not at its default comes from, by its path in the view. */
function sourcesView({ settingSources }: Pick<Config, 'settingSources'>): Readonly<Record<string, string>> {
  const shownAs = new Map(Object.entries(NAMES_IN_FILE).map(([shown, inFile]) => [inFile, shown]));
  return Object.fromEntries([...settingSources].map(([path, source]) => [shownAs.get(path) ?? path, source]));
}

/** Named one by one, so that a new setting is shown only after somebody has checked that it is not a secret. */
function settingsView(config: Config): Readonly<Record<string, unknown>> {
  const { hosted, transport, logLevel, publicUrl, allowedHosts, origins, frameMemory, defaultModel } = config;
  const { workers, limits, rateLimit, loadLimits, health, retention, listen, alerts, metrics, jobs } = config;
  const shown = {
    ...{ hosted, transport, logLevel, publicUrl, allowedHosts, origins, frameMemory, defaultModel },
    ...{ listen, workers, limits, rateLimit, loadLimits, health, retention, alerts, metrics, jobs },
    store: config.store === null ? 'sqlite' : 'postgres',
    console: config.console,
  };
  return snakeCased(shown) as Readonly<Record<string, unknown>>;
}
