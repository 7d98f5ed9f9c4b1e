import { Caches } from '../kit/caches.ts';
import type { LiveServices } from '../operator/live-services.ts';
import type { AlertServices } from './alerts.ts';
import { buildCallCore, type CallCore } from './call-core.ts';
import type { CallParts } from './call-parts.ts';
import { liveServices } from './live-services.ts';
import { openNotices } from './notices.ts';
import type { Webhooks } from './webhooks.ts';

/** The services of calls, and those that a process has once. */
export interface Core extends CallCore {
  readonly webhooks: Webhooks;
  readonly alerts: AlertServices;
  readonly live: LiveServices;
}

export function buildCore(parts: Omit<CallParts, 'isFirstWorker' | 'notePayer' | 'caches'>): Core {
  const { config, clock, log } = parts.terms;
  const { books, health } = parts;
  const notePayer: CallParts['notePayer'] = (record) => notices.alerts.observe(record);
  const core = buildCallCore({ ...parts, isFirstWorker: true, caches: new Caches(), notePayer });
  const { entrusted, metrics } = core;
  const notices = openNotices({ config, books, entrusted, clock, log, health, metrics: metrics.notices });
  const live = liveServices({
    config,
    inForce: parts.inForce,
    clock,
    custody: entrusted.custody,
    alerts: notices.alerts.alerts,
    health,
  });
  return { ...core, ...notices, live };
}
