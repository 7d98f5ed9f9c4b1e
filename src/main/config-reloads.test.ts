import { expect, test } from 'vitest';
import { createLog } from '../kit/log.ts';
import { ConfigReloads } from './config-reloads.ts';
import type { Settings } from './workers/messages.ts';

function settingsNamed(name: string): Settings {
  return { name, config: { file: null, hosted: false } } as unknown as Settings;
}

test('the config that was read last stays in effect, however long an earlier one takes to be read', async () => {
  const used: Settings[] = [];
  const configs = ['older', 'newer'].map(settingsNamed);
  let foundHosts = (): void => undefined;
  const localHosts = [new Promise<void>((resolve) => (foundHosts = resolve)), Promise.resolve()];
  const reloads = new ConfigReloads({
    file: null,
    hosted: false,
    read: async () => {
      const read = configs.shift()!;
      await localHosts.shift();
      return read;
    },
    use: async (settings) => void used.push(settings),
    changesForRestart: () => [],
    describe: () => ({}),
    audit: async () => undefined,
    warn: async () => undefined,
    log: createLog({ level: 'silent', destination: { write: () => undefined } }),
  });
  void reloads.reload();
  const second = reloads.reload();
  await new Promise((resolve) => setImmediate(resolve));
  foundHosts();
  await second;
  expect(used).toEqual(['older', 'newer'].map(settingsNamed));
});

test('an invalid config is logged, and the next one is used', async () => {
  const lines: string[] = [];
  const used: Settings[] = [];
  let reads = 0;
  const reloads = new ConfigReloads({
    file: null,
    hosted: false,
    read: async () => {
      if (reads++ === 0) throw new Error('no such file');
      return settingsNamed('valid');
    },
    use: async (settings) => void used.push(settings),
    changesForRestart: () => ['listen', 'limits'],
    describe: () => ({ models: 3 }),
    audit: () => Promise.reject(new Error('away')),
    warn: async () => void lines.push('warned'),
    log: createLog({ level: 'info', destination: { write: (line) => void lines.push(line) } }),
  });
  await reloads.reload();
  await reloads.reload();
  expect(used).toEqual([settingsNamed('valid')]);
  expect(lines[0]).toContain('Reloading the config failed; the old one stays in effect.');
  expect(lines[1]).toContain('"models":3');
  expect(lines[2]).toContain('"settings":["listen","limits"],"msg":"Some settings have changed that need a restart."');
  expect(lines[3]).toContain('"msg":"The reload cannot be written to the audit."');
  expect(lines.slice(4)).toEqual(['warned']);
});

test('a reload is in the audit with what was in effect before and after, and one that failed is not', async () => {
  const audited: object[][] = [];
  let [reads, models] = [0, 3];
  const reloads = new ConfigReloads({
    file: null,
    hosted: false,
    read: async () => {
      if (reads++ === 0) throw new Error('no such file');
      return settingsNamed('valid');
    },
    use: async () => void models++,
    changesForRestart: () => ['listen'],
    describe: () => ({ models }),
    audit: async (...change) => void audited.push(change),
    warn: async () => undefined,
    log: createLog({ level: 'silent', destination: { write: () => undefined } }),
  });
  await reloads.reload();
  await reloads.reload();
  expect(audited).toEqual([[{ models: 3 }, { models: 4, needs_restart: ['listen'] }]]);
});

test('a config file that is gone is refused, because without it prices and hosts would be those of no file', async () => {
  const lines: string[] = [];
  const used: (string | null)[] = [];
  const files = [null, '/etc/tollgate.config.json', null];
  const reloads = new ConfigReloads({
    file: null,
    hosted: false,
    read: async () => ({ config: { file: files.shift(), hosted: false } }) as unknown as Settings,
    use: async ({ config }) => void used.push(config.file),
    changesForRestart: () => [],
    describe: () => ({}),
    audit: async () => undefined,
    warn: async () => undefined,
    log: createLog({ level: 'error', destination: { write: (line) => void lines.push(line) } }),
  });
  for (let reload = 0; reload < 3; reload++) await reloads.reload();
  expect(used).toEqual([null, '/etc/tollgate.config.json']);
  expect(lines).toEqual([expect.stringContaining('"/etc/tollgate.config.json: is gone; put it back, or ')]);
});

test.each([
  [false, true, 'serve in hosted mode', 'set it back to false'],
  [true, false, 'serve in local mode', 'set it back to true'],
])(
  'a change of the mode from hosted %s to %s is refused as a whole, with the remedy, and nothing is audited',
  async (hosted, read, restart, back) => {
    const lines: string[] = [];
    const used: Settings[] = [];
    const audited: object[] = [];
    const reloads = new ConfigReloads({
      file: null,
      hosted,
      read: async () => ({ config: { file: '/etc/tollgate.config.json', hosted: read } }) as unknown as Settings,
      use: async (settings) => void used.push(settings),
      changesForRestart: () => ['hosted'],
      describe: () => ({}),
      audit: async (...change) => void audited.push(...change),
      warn: async () => undefined,
      log: createLog({ level: 'info', destination: { write: (line) => void lines.push(line) } }),
    });
    await reloads.reload();
    expect([used, audited]).toEqual([[], []]);
    const problem = `/etc/tollgate.config.json: hosted: cannot change in a running gateway; restart it to ${restart}, or ${back}`;
    expect(lines).toEqual([expect.stringContaining(`"problems":["${problem}"]`)]);
    expect(lines[0]).toContain('Reloading the config failed; the old one stays in effect.');
  },
);
