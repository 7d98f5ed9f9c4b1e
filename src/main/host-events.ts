import type { HostEvent } from '../hosts/host-sign.ts';
import type { HostMetrics } from '../http/host-metrics.ts';
import type { Log } from '../kit/log.ts';

/** Logs and counts what happens to hosts. */
export function tellHostEvent(event: HostEvent, log: Log, metrics: HostMetrics): void {
  const { host } = event;
  switch (event.kind) {
    case 'ejected':
      metrics.ejected(host, event.cause);
      log.warn({ host, cause: event.cause, for_ms: event.forMs, times: event.times }, 'Host ejected.');
      return;
    case 'probed':
      log.info({ host }, 'Ejected host is probed with one call.');
      return;
    case 'returned':
      metrics.returned(host);
      log.info({ host }, 'Host is healthy again.');
      return;
    case 'limited':
      metrics.refused(host, 'rate');
      log.debug({ host, for_ms: event.forMs }, 'Host is rate limited; other hosts are used meanwhile.');
      return;
    case 'refused':
      metrics.refused(host, 'request');
      if (event.isNews) log.error({ host, status: event.status, for_ms: event.forMs }, REQUEST_REFUSED);
      return;
    case 'key_set_aside':
      metrics.refused(host, 'key');
      if (event.isNews) log.error({ host, status: event.status, for_ms: event.forMs }, KEY_REFUSED);
      return;
    case 'model_set_aside':
      metrics.refused(host, 'model');
      if (event.isNews) log.error({ host, host_model: event.model, for_ms: event.forMs }, MODEL_UNKNOWN);
  }
}

const KEY_REFUSED =
  'Host rejected our key, so it is not used for now. Fix the key and restart the gateway, or reload the config with SIGHUP if the key is in a file.';
const REQUEST_REFUSED =
  'Host refused a request, apparently because our account cannot pay or lacks a permission. Check the account with the host; for_ms says how long other hosts are tried first.';
const MODEL_UNKNOWN =
  'Host does not know this model, so other hosts are tried first. Check the model name in the config.';
