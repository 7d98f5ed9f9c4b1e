import { expect, test } from 'vitest';
import { programName } from './program-name.ts';

test.each([
  ['an installed program', {}, '/usr/local/bin/tollgate', 'tollgate'],
  ['npx', { npm_command: 'exec', npm_package_name: 'tollgate' }, '/x/node_modules/.bin/tollgate', 'npx tollgate'],
  [
    'npm in a clone',
    { npm_command: 'run', npm_package_name: 'tollgate' },
    '/srv/tollgate/bin/tollgate.js',
    'npm run -s tollgate --',
  ],
  ['a script of another package', { npm_command: 'run', npm_package_name: 'shop' }, '/x/.bin/tollgate', 'tollgate'],
  ['node in a clone', {}, '/srv/tollgate/bin/tollgate.js', 'node bin/tollgate.js'],
  ['node from elsewhere', {}, '/opt/my clone/bin/tollgate.js', "node '/opt/my clone/bin/tollgate.js'"],
  ['nobody knows what', {}, null, 'tollgate'],
])('is named as it was started by %s', (_, env, script, name) => {
  expect(programName({ env, script, cwd: '/srv/tollgate' })).toBe(name);
});
