import { isAbsolute } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { defaultDataFolder, homeFolder } from './home-folders.ts';

afterEach(() => void vi.unstubAllEnvs());

test('an empty HOME is no folder, so that nothing is stored in the current one', () => {
  vi.stubEnv('HOME', '');
  expect(isAbsolute(homeFolder({ HOME: '' }))).toBe(true);
  expect(isAbsolute(defaultDataFolder({ HOME: '' }))).toBe(true);
});

test('the data folder follows XDG_DATA_HOME if it is absolute', () => {
  expect(defaultDataFolder({ XDG_DATA_HOME: '/srv/data' })).toBe('/srv/data/tollgate');
  expect(defaultDataFolder({ XDG_DATA_HOME: 'data', HOME: '/home/ada' })).toBe('/home/ada/.local/share/tollgate');
});
