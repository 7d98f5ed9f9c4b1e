import { readFileSync } from 'node:fs';

/** The part of its file system that a mount shows, if systemd made it for one unit. */
const OF_ONE_UNIT = /\/systemd-private-[^/]+\/tmp$/;

/**
 * Why nothing that is to last may be written there: with `PrivateTmp`, systemd gives a unit its own folder in the place of
 * /tmp and of /var/tmp, which nobody else sees, and deletes it when the unit stops. Null for any other place.
 */
export function describePrivateTmp(path: string, mounts = readMounts()): string | null {
  for (const line of mounts.split('\n')) {
    const [, , , root = '', place = ''] = line.split(' ');
    if (OF_ONE_UNIT.test(root) && `${path}/`.startsWith(`${place}/`))
      return `${place} is a folder of this service alone, which systemd deletes when it stops (PrivateTmp). Choose a folder elsewhere.`;
  }
  return null;
}

/** Empty on systems other than Linux. */
function readMounts(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}
