import { hostname } from 'node:os';
import { Alerts } from '../alerts/alerts.ts';
import { AlertWatch, type WatchSettings } from '../alerts/watch.ts';
import { ACCOUNT_PREFIX, ALERT_PREFIX } from '../canonical/id-prefixes.ts';
import type { Config } from '../config/config.ts';
import type { ExchangeRecord } from '../gateway/exchange-record.ts';
import type { HostsHealth } from '../hosts/hosts-health.ts';
import type { NoticeMetrics } from '../http/notice-metrics.ts';
import type { Clock } from '../kit/clock.ts';
import { formatId } from '../kit/ids.ts';
import { errorFields, type Log } from '../kit/log.ts';
import type { NewAlert } from '../store/alerts.ts';
import type { Books } from './books.ts';
import { freeBytes } from './disk-space.ts';

export interface AlertParts {
  readonly config: Pick<Config, 'alerts' | 'dataFolder'>;
  readonly books: Pick<Books, 'store' | 'ids'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly health: Pick<HostsHealth, 'report'>;
  readonly metrics: NoticeMetrics;
  /** Webhooks have something to deliver. */
  nudge(): void;
}

export interface AlertServices {
  readonly alerts: Alerts;
  readonly watch: AlertWatch;
  observe(record: ExchangeRecord): void;
}

/** What looks for reasons to alert somebody, in a running server. */
export function openAlerts({ config, books, clock, log, health, metrics, nudge }: AlertParts): AlertServices {
  const { store, ids } = books;
  const onRaised = (alert: NewAlert): void => {
    metrics.alertRaised(alert.kind);
    logAlert(log, alert);
    nudge();
  };
  const alerts = new Alerts({ store: store.directory, clock, ids, onRaised });
  const watch = new AlertWatch({
    store,
    alerts,
    clock,
    settings: settingsOf(config.alerts),
    machine: hostname(),
    diskFreeBytes: () => freeBytes(config.dataFolder),
    hosts: () => health.report(),
    onError: (error) => log.warn(errorFields(error), 'Alerts cannot be evaluated. Tollgate will try again.'),
  });
  return { alerts, watch, observe: (record) => noteCall(watch, record) };
}

function settingsOf({ balanceBelowNanousd, lossesPerHourNanousd, ...rest }: Config['alerts']): WatchSettings {
  return {
    ...rest,
    balanceBelowNanousd: balanceBelowNanousd === null ? null : BigInt(balanceBelowNanousd),
    lossesPerHourNanousd: lossesPerHourNanousd === null ? null : BigInt(lossesPerHourNanousd),
  };
}

/** Runs after every call. */
function noteCall(watch: AlertWatch, record: ExchangeRecord): void {
  const { caller, costNanousd, lossNanousd, refusedCap } = record;
  watch.note(caller, costNanousd, lossNanousd, refusedCap);
}

function logAlert(log: Log, { id, kind, accountId, subject, message }: NewAlert): void {
  const account = accountId === null ? null : formatId(ACCOUNT_PREFIX, accountId);
  log.warn({ alert: formatId(ALERT_PREFIX, id), kind, account, subject }, message);
}
