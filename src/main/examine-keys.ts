import type { Finding } from '../cli/finding.ts';
import { type CheckedKey, checkKeys } from '../hosts/check-keys.ts';
import type { ConfiguredHost } from '../hosts/host.ts';
import type { Clock } from '../kit/clock.ts';
import { FIRST_VERSION_HEADERS } from '../wires/messages/vendor-headers.ts';

/** Asks hosts that have a key whether they accept it. */
export async function examineKeys(hosts: readonly ConfiguredHost[], clock: Clock): Promise<Finding[]> {
  // Hosts of the messages wire answer nothing without its version; others ignore it.
  return (await checkKeys(hosts, FIRST_VERSION_HEADERS, clock)).map(findingOf);
}

export function findingOf({ host, keySource, verdict }: CheckedKey): Finding {
  const check = `key of ${host}`;
  const remedy = {
    rejected: `set ${keySource} to a valid key`,
    unreachable: 'check the network, or skip with --offline',
  };
  switch (verdict.kind) {
    case 'accepted':
      return { check, status: 'ok', detail: `${keySource} is accepted`, remedy: null };
    case 'rejected': {
      const detail = `${keySource} is rejected (status ${verdict.status})`;
      return { check, status: 'failure', detail, remedy: remedy.rejected };
    }
    case 'unknown': {
      const detail = `${keySource} could not be checked: the host answered with status ${verdict.status}`;
      return { check, status: 'ok', detail, remedy: null };
    }
    case 'unreachable': {
      const detail = `${host} cannot be reached: ${verdict.reason}`;
      return { check, status: 'warning', detail, remedy: remedy.unreachable };
    }
  }
}
