import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliFixture } from '../../test/cli-fixture.ts';
import { KNOWN_VARIABLES } from '../config/config.ts';
import { EXIT } from './exit-codes.ts';

let cli: CliFixture;
beforeEach(() => {
  cli = new CliFixture();
});
afterEach(() => cli.remove());

describe('a TOLLGATE_ variable that nothing reads', () => {
  const TYPO = { TOLLGATE_TRANSPROT: 'hunter2' };
  const NAMED = 'TOLLGATE_TRANSPROT is not a variable that Tollgate reads (did you mean TOLLGATE_TRANSPORT?)';

  test('is named when the gateway starts, with the nearest name and without its value', async () => {
    const { code, err } = await cli.run(['serve'], { ...TYPO, TOLLGATE_X: 'hunter2' });
    expect([code, cli.served.length]).toEqual([EXIT.ok, 1]);
    expect(err).toBe(`Warning: ${NAMED}.\nWarning: TOLLGATE_X is not a variable that Tollgate reads.\n`);
  });

  test('is named by config check and by doctor, and neither fails for it', async () => {
    expect(await cli.run(['config', 'check'], TYPO)).toMatchObject({ code: EXIT.ok, err: `${NAMED}.\n` });
    const { out } = await cli.run(['config', 'check', '--json'], TYPO);
    expect(JSON.parse(out)).toMatchObject({
      config: { unknown_variables: [{ name: 'TOLLGATE_TRANSPROT', nearest: 'TOLLGATE_TRANSPORT' }] },
    });
    const doctor = await cli.run(['doctor', '--offline', '--json', '--port', '0'], TYPO);
    expect(JSON.parse(doctor.out)).toMatchObject({
      ok: true,
      checks: expect.arrayContaining([
        expect.objectContaining({ check: 'config', status: 'warning', detail: expect.stringContaining(NAMED) }),
      ]),
    });
    expect(out + doctor.out + doctor.err).not.toContain('hunter2');
  });
});

describe('nothing is said', () => {
  test('of the variables that the program reads', async () => {
    const values = ['TOLLGATE_API_KEY', 'TOLLGATE_MASTER_KEY_FILE'].map((name) => [name, join(cli.folder, 'key')]);
    const { err } = await cli.run(['serve'], { TOLLGATE_PORT: '9', ...Object.fromEntries(values) });
    expect(err).toBe('');
  });

  test('of a variable that holds the key of a host of the config file', async () => {
    const hosts = [{ name: 'own', base_url: 'https://own.example/v1', key_env: 'TOLLGATE_OWN_KEY' }];
    writeFileSync(join(cli.folder, 'tollgate.config.json'), JSON.stringify({ hosts }));
    expect((await cli.run(['serve'], { TOLLGATE_OWN_KEY: 'k' })).err).toBe('');
    writeFileSync(join(cli.folder, 'key'), 'k');
    expect((await cli.run(['serve'], { TOLLGATE_OWN_KEY_FILE: join(cli.folder, 'key') })).err).toBe('');
  });

  test('of what Kubernetes sets for Services whose names begin with tollgate, but of a wrong port', async () => {
    const links = {
      TOLLGATE_SERVICE_HOST: '10.96.0.7',
      TOLLGATE_SERVICE_PORT_CALLS: '80',
      TOLLGATE_PORT_80_TCP: 'tcp://10.96.0.7:80',
      TOLLGATE_PORT_80_TCP_ADDR: '10.96.0.7',
      TOLLGATE_DB_PORT: 'tcp://10.96.0.8:5432',
    };
    expect((await cli.run(['serve'], links)).err).toBe('');
    expect((await cli.run(['serve'], { TOLLGATE_OPERATION_PORT: '9' })).err).toContain('TOLLGATE_OPERATIONS_PORT?');
  });
});

test('every TOLLGATE_ variable that the sources name is in the list of those that are read', () => {
  const root = resolve(import.meta.dirname, '..');
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  const named = sources.flatMap(
    (file) => readFileSync(join(root, file), 'utf8').match(/\bTOLLGATE_[A-Z0-9_]+[A-Z0-9]/g) ?? [],
  );
  expect(named.length).toBeGreaterThan(KNOWN_VARIABLES.length);
  expect([...new Set(named)].filter((name) => !KNOWN_VARIABLES.includes(name))).toEqual([]);
});
