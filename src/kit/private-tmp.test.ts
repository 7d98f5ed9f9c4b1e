import { expect, test } from 'vitest';
import { describePrivateTmp } from './private-tmp.ts';

const UNIT = 'systemd-private-41ccf5-tollgate.service-bWYvXa';
const MOUNTS = `22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
31 22 0:28 / /run rw,nosuid shared:5 - tmpfs tmpfs rw
40 22 254:0 /tmp/${UNIT}/tmp /tmp rw,relatime shared:9 - ext4 /dev/vda rw
41 22 254:0 /var/tmp/${UNIT}/tmp /var/tmp rw,relatime shared:9 - ext4 /dev/vda rw
`;

test.each(['/tmp', '/tmp/backup.sqlite', '/var/tmp/a/b'])('%s is gone after a stop of the unit', (path) => {
  expect(describePrivateTmp(path, MOUNTS)).toContain('tmp is a folder of this service alone');
});

test.each(['/', '/var/lib/tollgate/backups', '/tmpfiles/x', '/run/tmp'])('%s is kept', (path) => {
  expect(describePrivateTmp(path, MOUNTS)).toBeNull();
});

test('a machine without such mounts keeps everything', () => {
  for (const mounts of ['', '22 1 254:0 / / rw - ext4 /dev/vda rw\n35 22 0:30 / /tmp rw - tmpfs tmpfs rw\n'])
    expect(describePrivateTmp('/tmp/backup.sqlite', mounts)).toBeNull();
});
