import { type Finding, failure, ok, warning } from '../cli/finding.ts';
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
  switch (verdict.kind) {
    case 'accepted':
      return ok(check, `${keySource} is accepted`);
    case 'rejected': {
      const detail = `${keySource} is rejected (status ${verdict.status})`;
      return failure(check, detail, `set ${keySource} to a valid key`);
    }
    case 'unknown':
      return ok(check, `${keySource} could not be checked: the host answered with status ${verdict.status}`);
    case 'unreachable': {
      const detail = `${host} cannot be reached: ${verdict.reason}`;
      return warning(check, detail, 'check the network, or skip with --offline');
    }
  }
}
