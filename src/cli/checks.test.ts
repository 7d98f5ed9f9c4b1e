import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { CliFixture } from '../../test/cli-fixture.ts';
import { LIMITS } from '../limits.ts';
import { VERBS } from '../operator/operator.ts';
import { StoreUnavailable } from '../store/store.ts';
import { checkConsole, checkDataFolder, checkNode, checkPort, judgeDisk, judgeLedgerClock } from './checks.ts';

test.each([
  ['26.10.0', 'ok'],
  ['24.21.0', 'ok'],
  ['22.19.0', 'ok'],
  ['22.18.5', 'failure'],
  ['20.20.2', 'failure'],
])('Node %s is %s', (version, status) => expect(checkNode(version).status).toBe(status));

test('a disk that is nearly full is a warning, one on which calls are refused a failure', () => {
  expect(judgeDisk(LIMITS.diskFreeBytesMin - 1).status).toBe('failure');
  expect(judgeDisk(LIMITS.diskFreeBytesMin).status).toBe('warning');
  expect(judgeDisk(4 * LIMITS.diskFreeBytesMin).status).toBe('ok');
});

test('a clock far behind the last call of the ledger is a warning that says how far', () => {
  expect(judgeLedgerClock(LIMITS.clockBehindMs)).toEqual([]);
  expect(judgeLedgerClock(365 * 86_400_000)).toMatchObject([
    { status: 'warning', detail: expect.stringContaining('365 days behind') },
  ]);
  expect(judgeLedgerClock(5 * 3_600_000)).toMatchObject([{ detail: expect.stringContaining('5 hours') }]);
});

describe('the data folder', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-checks-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('may be missing, must be a folder, and must not be open to other users', () => {
    expect(checkDataFolder(folder)).toMatchObject({ status: 'ok' });
    expect(checkDataFolder(join(folder, 'new'))).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('first start'),
    });
    chmodSync(folder, 0o755);
    expect(checkDataFolder(folder)).toMatchObject({ status: 'warning', remedy: `chmod 700 ${folder}` });
    writeFileSync(join(folder, 'file'), '');
    expect(checkDataFolder(join(folder, 'file')).status).toBe('failure');
  });

  test('that cannot be reached is not taken for one that is missing', () => {
    symlinkSync('loop', join(folder, 'loop'));
    expect(checkDataFolder(join(folder, 'loop', 'data'))).toMatchObject({
      status: 'failure',
      detail: expect.stringContaining('cannot be reached (ELOOP)'),
    });
  });

  test('that is missing is created by the first start', () => {
    expect(checkDataFolder(join(folder, 'new', 'data')).status).toBe('ok');
  });

  test('that is missing cannot be created below a file, or where a link leads nowhere', () => {
    writeFileSync(join(folder, 'file'), '');
    symlinkSync(join(folder, 'nowhere', 'data'), join(folder, 'link'));
    for (const [path, place] of [
      ['file/data', 'file'],
      ['link', 'link'],
      ['link/data', 'link'],
    ] as const) {
      const detail = `${join(folder, path)} cannot be created, because ${join(folder, place)} is not a folder`;
      expect(checkDataFolder(join(folder, path))).toMatchObject({ status: 'failure', detail });
    }
  });
});

describe('the port', () => {
  let other: Server;
  let port: number;
  beforeEach(async () => {
    other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    port = (other.address() as { port: number }).port;
  });
  afterEach(() => new Promise((resolve) => other.close(resolve)));

  test('is a failure if another program uses it, and ok if the running server does', async () => {
    const listen = { host: '127.0.0.1', port, operationsHost: '127.0.0.1', operationsPort: 0, consolePort: null };
    expect(await checkPort(listen, null)).toMatchObject({ status: 'failure', remedy: 'choose another with --port' });
    const server = { pid: 7, url: `http://127.0.0.1:${port}`, socketPath: null, startedMs: 0 };
    expect(await checkPort(listen, server)).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('process 7'),
    });
    expect(await checkPort(listen, { ...server, url: 'http://127.0.0.1:1' })).toMatchObject({
      status: 'ok',
      detail: `process 7 is listening on http://127.0.0.1:1; the config names 127.0.0.1:${port}`,
    });
    expect(await checkPort({ ...listen, port: 0 }, null)).toMatchObject({ status: 'ok' });
  });

  test('of the management API is checked too, if it has one of its own', async () => {
    const listen = { host: '127.0.0.1', port: 0, operationsHost: '127.0.0.1', operationsPort: 0, consolePort: port };
    const server = { pid: 7, url: 'http://127.0.0.1:1', socketPath: null, startedMs: 0 };
    expect(await checkConsole({ console: true, listen }, null)).toMatchObject({
      status: 'failure',
      detail: expect.stringContaining(`cannot listen on 127.0.0.1:${port} (EADDRINUSE)`),
      remedy: 'choose another port with --console-port',
    });
    expect(await checkConsole({ console: true, listen }, server)).toMatchObject({ detail: `127.0.0.1:${port}` });
    expect(await checkConsole({ console: false, listen }, null)).toMatchObject({ status: 'ok', detail: 'not served' });
    const same = { console: true, listen: { ...listen, consolePort: null } };
    expect(await checkConsole(same, null)).toMatchObject({ status: 'ok', detail: 'on the same port as calls' });
  });
});

describe('doctor', () => {
  let cli: CliFixture;
  beforeEach(() => {
    cli = new CliFixture();
  });
  afterEach(() => cli.remove());
  const doctor = () => cli.run(['doctor', '--port', '0']);

  test('reports a valid ledger as ok, and says that no server runs', async () => {
    await cli.run(['accounts', 'create', 'ada']);
    const { code, out } = await doctor();
    expect(code).toBe(0);
    for (const line of [
      /^node +ok/m,
      /^config +ok/m,
      /^gateway +ok +not running/m,
      /^store +ok/m,
      /^ledger +ok +1 account,/m,
      /^management API +ok +on the same port as calls/m,
    ]) {
      expect(out).toMatch(line);
    }
    expect(out).toMatch(/^hosts +ok +only the simulated host; set OPENAI_API_KEY, ANTHROPIC_API_KEY or another/m);
  });

  test('names the server that has the data folder open', async () => {
    await cli.startServer();
    expect((await doctor()).out).toMatch(/^gateway +ok +process 4711 at http/m);
  });

  test('names a running gateway that is older and cannot check the stored secrets yet', async () => {
    await cli.startServer();
    const verbs: Record<string, unknown> = VERBS;
    const before = { ...VERBS };
    onTestFinished(() => {
      // All of them, so that they keep their order for tests that share this process.
      for (const name of Object.keys(verbs)) delete verbs[name];
      Object.assign(verbs, before);
    });
    delete verbs['seal.secrets'];
    const { code, out } = await doctor();
    expect(code).toBe(0);
    expect(out).toMatch(/^gateway +ok +process 4711 at http/m);
    expect(out).toMatch(/^stored secrets +warning +the running gateway is older/m);
  });

  test('says that a running gateway has other hosts than the command finds', async () => {
    await cli.startServer();
    const verbs: Record<string, unknown> = VERBS;
    const listHosts = VERBS['hosts.list'];
    onTestFinished(() => void Object.assign(verbs, { 'hosts.list': listHosts }));
    const answerHosts = (...ids: string[]): void => {
      verbs['hosts.list'] = {
        ...listHosts,
        run: async () => ({ object: 'list', data: ids.map((id) => ({ id })), next: null }),
      };
    };
    answerHosts('sim', 'openai');
    const other = await doctor();
    expect(other.code).toBe(0);
    expect(other.out).toMatch(
      /^settings +warning +the running gateway has the hosts openai, sim, and this command sim;/m,
    );
    expect(other.err).toContain('settings: run it with the variables and options of the gateway');
    answerHosts('sim');
    expect((await doctor()).out).not.toMatch(/^settings/m);
  });

  test('shows the names of provider keys only', async () => {
    const { out } = await cli.run(['doctor', '--port', '0', '--json'], { OPENAI_API_KEY: 'hunter2' });
    expect(out).toContain('OPENAI_API_KEY');
    expect(out).not.toContain('hunter2');
  });

  test('reports host keys, and leaves them alone with --offline', async () => {
    cli.keyFindings = [{ check: 'key of groq', status: 'failure', detail: 'rejected', remedy: 'set GROQ_API_KEY' }];
    const { code, out, err } = await doctor();
    expect([code, out]).toEqual([1, expect.stringMatching(/^key of groq +failure +rejected/m)]);
    expect(err).toContain('key of groq: set GROQ_API_KEY');
    const offline = await cli.run(['doctor', '--port', '0', '--offline']);
    expect([offline.code, offline.out]).toEqual([0, expect.not.stringContaining('key of')]);
  });

  test('reports a store that admits no calls, an impossible balance, and that there is no host', async () => {
    vi.spyOn(cli.store, 'health').mockResolvedValue({ ok: true, reason: 'The disk is full.', mayAdmit: false });
    const account = {
      id: 1n,
      name: 'ada',
      kind: 'prepaid',
      status: 'active',
      version: 1n,
      createdMs: 0,
      reservedNanousd: 0n,
      spentNanousd: 0n,
      lossHour: 0,
      lostNanousd: 0n,
    } as const;
    vi.spyOn(cli.store, 'listAccounts').mockResolvedValue([{ ...account, balanceNanousd: 4n, heldNanousd: 5n }]);
    const { code, out } = await cli.run(['doctor', '--port', '0', '--no-sim']);
    expect(code).toBe(1);
    expect(out).toMatch(/^store +failure +The disk is full/m);
    expect(out).toMatch(/^ledger +failure +impossible balance: ada/m);
    expect(out).toMatch(/^hosts +failure/m);
  });

  test('does not send the operator of a database to the page about data folders, or to a process that has it open', async () => {
    vi.spyOn(cli.store, 'listAccounts').mockRejectedValue(new StoreUnavailable('The database does not answer.'));
    const { err } = await cli.run(['doctor', '--port', '0', '--store', 'postgres://ada@db.example/books']);
    expect(err).toContain('ledger: see docs/deploy.md\n');
    expect((await doctor()).err).toContain('ledger: see docs/data-folder.md\n');
  });

  test('does not blame another process for a database that cannot be opened', async () => {
    vi.spyOn(cli, 'services').mockRejectedValue(new StoreUnavailable('The database cannot be written.'));
    const { out, err } = await doctor();
    expect(out).toMatch(/^ledger +failure +The database cannot be written\.$/m);
    expect(err).toContain('ledger: see docs/data-folder.md\n');
  });

  test('reports a bad config file as a finding', async () => {
    writeFileSync(join(cli.folder, 'tollgate.config.json'), '{');
    const { code, out } = await doctor();
    expect(code).toBe(1);
    expect(out).toMatch(/^config +failure/m);
  });
});
