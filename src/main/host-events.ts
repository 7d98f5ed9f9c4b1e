import type { HostEvent } from '../hosts/host-sign.ts';
import type { HostMetrics } from '../http/host-metrics.ts';
import type { Log } from '../kit/log.ts';

/** What happens to hosts, for the operator: a line in the log, and a count. */
export function tellHostEvent(event: HostEvent, log: Log, metrics: HostMetrics): void {
  const { host } = event;
  switch (event.kind) {
    case 'ejected':
      metrics.ejected(host, event.cause);
      log.warn({ host, cause: event.cause, for_ms: event.forMs, times: event.times }, 'A host was ejected.');
      return;
    case 'probed':
      log.info({ host }, 'A host that was set aside is tried by one call.');
      return;
    case 'returned':
      metrics.returned(host);
      log.info({ host }, 'A host has returned.');
      return;
    case 'limited':
      metrics.refused(host, 'rate');
      log.debug({ host, for_ms: event.forMs }, 'A host is at its rate limit and left alone.');
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
  'A host refused our key or wants to be paid: its key is set aside. Mend it, then reload the config (SIGHUP) or wait.';
const MODEL_UNKNOWN =
  'A host does not know a model by the name it was asked for: other hosts are asked first. Check the name in the config.';
