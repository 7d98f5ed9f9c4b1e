import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { processEnvironment } from '../campaigns/process-environment.ts';
import { BIN } from '../campaigns/programs.ts';
import { MasterKeyError } from '../src/custody/master-keys.ts';
import { LIMITS } from '../src/limits.ts';
import { type CloudResource, DEPLOYMENT, startResource } from './cloud-resource.ts';
import { API_KEY, CustodyFixture, readRefusal } from './custody-fixture.ts';
import { certify } from './egress/certificate.ts';
import { startHarness } from './harness.ts';

const NAME = 'resource.good.example';
const PUBLIC = '93.184.216.34';

/** A gateway in hosted mode, and a resolver that knows one name with one public address. */
let custody: CustodyFixture;
let resource: CloudResource;
let address = PUBLIC;
let resolved: readonly string[] | null = null;
const dialed: string[] = [];

beforeAll(async () => {
  const certified = certify([NAME]);
  resource = await startResource(API_KEY, certified);
  custody = await CustodyFixture.start({
    hosted: true,
    world: {
      resolve: async () => resolved ?? [address],
      dial: (target) => {
        dialed.push(target.address);
        return connect({ host: '127.0.0.1', port: resource.port });
      },
      certificateAuthorities: certified.cert,
    },
  });
});
beforeEach(async () => {
  address = PUBLIC;
  resolved = null;
  dialed.length = 0;
  resource.reset();
  await custody.renew();
});
afterAll(async () => {
  await custody.stop();
  await resource.close();
});

const BASE_URL = `https://${NAME}/openai/v1`;

describe('in hosted mode', () => {
  test('a key is verified and used over TLS, at the address that was checked', async () => {
    const put = await custody.putKey({ base_url: BASE_URL });
    expect([put.status, await put.json()]).toMatchObject([200, { base_url: BASE_URL, status: 'verified' }]);
    const answer = await custody.chat(DEPLOYMENT);
    expect([answer.status, answer.headers.get('x-gateway-cost-nanousd')]).toEqual([200, '0']);
    expect(new Set(dialed)).toEqual(new Set([PUBLIC]));
    expect(resource.calls.every(({ headers }) => headers['api-key'] === API_KEY)).toBe(true);
  });

  test('resources on this machine are refused', async () => {
    for (const base_url of [custody.resource.baseUrl, 'http://localhost/openai/v1', 'https://127.0.0.1/openai/v1']) {
      const refused = await readRefusal(await custody.putKey({ base_url }));
      expect(refused).toMatchObject({ status: 422, type: 'upstream_error', param: 'base_url' });
    }
    expect([custody.resource.calls.length, dialed.length]).toEqual([0, 0]);
  });

  test('a name that resolves to a private address when it is called gets 422, and no connection is made', async () => {
    await custody.putKey({ base_url: BASE_URL });
    dialed.length = 0;
    for (address of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1']) {
      for (const stream of [false, true]) {
        const answer = await custody.chat(DEPLOYMENT, { stream });
        await custody.expectFree(answer);
        const refused = await readRefusal(answer);
        expect(refused).toMatchObject({ status: 422, type: 'upstream_error', code: 'provider_key_failed' });
        expect(refused.message).toContain('"cloud" cannot be called at this URL');
        expect(refused.message).not.toContain(address);
      }
    }
    expect(dialed).toEqual([]);
  });

  test('a name that does not exist and an internal name get the same answer, so that nobody can search for internal names', async () => {
    const seen = new Set<string>();
    for (resolved of [
      [],
      ['10.0.0.1'],
      ['127.0.0.1'],
      ['169.254.169.254'],
      ['::1'],
      ['fd00::1'],
      [PUBLIC, '10.0.0.1'],
      Array.from({ length: LIMITS.callerUrlAddressesMax + 1 }, (_, at) => `10.0.1.${at}`),
    ]) {
      const response = await custody.putKey({ base_url: BASE_URL });
      seen.add(`${response.status} ${await response.text()}`);
    }
    expect([...seen]).toEqual([expect.stringMatching(/^422 .*does not exist, or not all of its addresses are public/)]);
    expect(dialed).toEqual([]);
  });

  test('every key route needs a gateway key', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/cloud'],
      ['PUT', '/cloud'],
      ['DELETE', '/cloud'],
    ] as const) {
      const response = await custody.keys(method, path, method === 'PUT' ? {} : undefined, 'no-key');
      expect([method, path, response.status]).toEqual([method, path, 401]);
    }
  });

  test('without a master key the gateway does not start', async () => {
    const start = startHarness({
      hosted: true,
      config: { masterKey: { kind: 'none', source: 'TOLLGATE_MASTER_KEY' } },
    });
    await expect(start).rejects.toThrow(MasterKeyError);
  });

  test.each([
    ['none', '', 'Hosted mode needs a master key'],
    ['a weak one', Buffer.alloc(32).toString('base64'), 'its bytes repeat'],
  ])('the program does not start with %s, and says what to do', async (_, key, why) => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-hosted-'));
    const env = processEnvironment(folder, { TOLLGATE_LOCAL_HOSTS: 'false', TOLLGATE_MASTER_KEY: key });
    const args = [BIN, 'serve', '--hosted', '--port', '0', '--operations-port', '0'];
    const ended = spawnSync(process.execPath, args, { env, cwd: folder, encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect([ended.status, ended.stderr]).toEqual([2, expect.stringContaining(why)]);
    expect(ended.stderr).toContain('openssl rand -base64 32');
  });
});
