import { ObservedResponse } from '../egress/observed-response.ts';
import type { ResponseReceiver } from '../egress/sender.ts';
import type { Clock } from '../kit/clock.ts';
import type { HostHealth } from './host-health.ts';

/** Wraps the receiver of a call that probes a rejected key: the host is back in use when its good answer begins. */
export function observeKeyProbe(
  receiver: ResponseReceiver,
  health: HostHealth,
  ticket: number,
  clock: Clock,
): ResponseReceiver {
  return new ObservedResponse(receiver, (status) => {
    if (status >= 200 && status < 300) health.keyAccepted(ticket, clock.monotonicMs());
  });
}
