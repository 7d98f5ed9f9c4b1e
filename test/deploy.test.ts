import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { EXIT } from '../src/cli/exit-codes.ts';
import { loadConfig } from '../src/config/config.ts';
import { LIMITS } from '../src/limits.ts';
import { CliFixture } from './cli-fixture.ts';
import { IMAGE_ENV, LAST_STAGE, STAGES } from './containerfile.ts';
import { unknownVariables } from './known-variables.ts';
import { parsePlainYaml } from './plain-yaml.ts';

/** Compares the files of deploy/ and the page about them with the program, as far as that is possible without containers. */

const ROOT = resolve(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const PAGE = read('docs/deploy.md');
const HAPROXY = read('deploy/haproxy.cfg');
const UNIT = read('deploy/tollgate.service');

interface Service {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly environment: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes: readonly string[];
  readonly deploy?: { readonly replicas: string };
  readonly read_only?: string;
  readonly stop_grace_period?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on: Readonly<Record<string, { readonly condition: string }>> | readonly string[];
  readonly [member: string]: unknown;
}
const COMPOSE = parsePlainYaml(read('deploy/compose.yaml')) as unknown as {
  readonly services: Readonly<Record<'postgres' | 'tollgate' | 'balancer', Service>>;
  readonly volumes: Readonly<Record<string, string>>;
};

const config = loadConfig({ argvFlags: {}, env: {}, cwd: tmpdir(), secrets: 'leave' });
const STOP_MS_MIN = LIMITS.shutdownNoticeMs + config.limits.shutdownMs + LIMITS.shutdownReadMs;

const spanMs = (text: string): number => {
  const [, count, unit = ''] = /^(\d+)(ms|s|m)$/.exec(text) ?? [];
  return Number(count) * ({ ms: 1, s: 1_000, m: 60_000 }[unit] ?? Number.NaN);
};
const setting = (file: string, name: string): string =>
  new RegExp(`^\\s*${name}[ =](.*)$`, 'm').exec(file)?.[1]?.trim() ?? `no ${name}`;

const cli = new CliFixture();
afterAll(() => cli.remove());

/** Whether there is such a command, with such flags. */
async function isCommand(words: readonly string[], flags: readonly string[] = []): Promise<boolean> {
  const { code, out } = await cli.run([...words, '--help']);
  return code === EXIT.ok && flags.every((flag) => out.includes(`${flag} `));
}

describe('the compose file', () => {
  const { postgres, tollgate, balancer } = COMPOSE.services;

  test('starts three replicas of our own image on one PostgreSQL that is new enough, when it is ready', () => {
    expect(tollgate.deploy?.replicas).toBe('3');
    expect(existsSync(resolve(ROOT, 'deploy', tollgate.build!.context, tollgate.build!.dockerfile))).toBe(true);
    expect(Number(/postgres:(\d+)$/.exec(postgres.image ?? '')?.[1])).toBeGreaterThanOrEqual(15);
    expect(tollgate.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
    expect(postgres.healthcheck?.test).toContain('pg_isready');
    const [volume, place] = postgres.volumes[0]!.split(':');
    expect(COMPOSE.volumes).toHaveProperty(volume!);
    expect(place).toBe('/var/lib/postgresql/data');
  });

  test('gives replicas only variables that they know, and a store that the config takes', () => {
    expect(unknownVariables(Object.keys(tollgate.environment))).toEqual([]);
    const store = tollgate.environment.TOLLGATE_STORE!.replace(/\$\{POSTGRES_PASSWORD\}/, 'secret');
    const { POSTGRES_USER: user, POSTGRES_DB: database } = postgres.environment;
    expect(store).toBe(`postgres://${user}:secret@postgres:5432/${database}`);
    const env = {
      ...IMAGE_ENV,
      ...tollgate.environment,
      TOLLGATE_STORE: store,
      OPENAI_API_KEY: '',
      ANTHROPIC_API_KEY: '',
    };
    const given = loadConfig({ argvFlags: {}, env, cwd: tmpdir() });
    // Each worker has its own connections to the database, and a large machine would start many.
    expect(given).toMatchObject({ hosted: true, workers: 1, store: { name: `PostgreSQL postgres:5432/${database}` } });
  });

  test('asks for its secrets by names that the example has', () => {
    const wanted = [...read('deploy/compose.yaml').matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name!);
    const offered = [...read('deploy/example.env').matchAll(/^([A-Z_]+)=$/gm)].map(([, name]) => name!);
    expect([...new Set(wanted)].sort()).toEqual(offered.sort());
    expect(read('.gitignore')).toContain('deploy/.env');
  });

  test('lets replicas write nothing, gain nothing, and end their calls', () => {
    expect(tollgate).toMatchObject({
      read_only: 'true',
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      tmpfs: ['/tmp'],
    });
    expect(spanMs(tollgate.stop_grace_period!)).toBeGreaterThan(STOP_MS_MIN);
  });

  test('publishes one port, that of the load balancer', () => {
    expect(postgres.ports).toBeUndefined();
    expect(tollgate.ports).toBeUndefined();
    const [, inside] = balancer.ports![0]!.split(':');
    expect(setting(HAPROXY, 'bind')).toBe(`:${inside}`);
    expect(existsSync(resolve(ROOT, 'deploy', balancer.volumes[0]!.split(':')[0]!))).toBe(true);
  });
});

describe('the load balancer', () => {
  test('knows every replica by the name and port it has', () => {
    const [, count, name, port] = /server-template \w+ (\d+) (\w+):(\d+)/.exec(HAPROXY)!;
    expect(Object.keys(COMPOSE.services)).toContain(name);
    expect(count).toBe(COMPOSE.services.tollgate.deploy?.replicas);
    expect(port).toBe(IMAGE_ENV.TOLLGATE_PORT);
    expect(port).toBe(setting(LAST_STAGE, 'EXPOSE'));
  });

  test('asks who is ready, waits longer than the gateway may be silent, and never sends a request twice', () => {
    expect(setting(HAPROXY, 'http-check send')).toContain('uri /readyz');
    const { bufferedMs, firstFrameMs, keepAliveMs } = config.limits;
    for (const side of ['client', 'server']) {
      const waitMs = spanMs(setting(HAPROXY, `timeout ${side}`));
      expect(waitMs).toBeGreaterThan(Math.max(bufferedMs, firstFrameMs, keepAliveMs));
    }
    expect(spanMs(setting(HAPROXY, 'timeout http-keep-alive'))).toBeLessThan(LIMITS.clientKeepAliveMs);
    expect(spanMs(setting(HAPROXY, 'timeout http-request'))).toBe(config.limits.requestHeadMs);
    expect(setting(HAPROXY, 'retry-on')).toBe('conn-failure');
    expect(HAPROXY).not.toContain('http-buffer-request');
  });

  test('says which client a request is from: otherwise all clients share one limit of failed sign-ins', () => {
    expect(HAPROXY).toMatch(/^ *option forwardfor$/m);
  });
});

describe('the unit', () => {
  const command = setting(UNIT, 'ExecStart').split(' ');
  const place = setting(UNIT, 'WorkingDirectory');

  test('starts a command that there is, from files that there are', async () => {
    const [node, program, ...args] = command;
    expect(node).toBe(`${place}/node_modules/.bin/node`);
    expect(existsSync(join(ROOT, program!.slice(place.length)))).toBe(true);
    expect(await isCommand(args)).toBe(true);
  });

  test('sets only variables that the program knows, and a folder that it may write to', () => {
    const given = [...UNIT.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!] as const);
    expect(unknownVariables(given.map(([name]) => name))).toEqual([]);
    const env = Object.fromEntries(given);
    expect(env.TOLLGATE_DATA).toBe(`/var/lib/${setting(UNIT, 'StateDirectory')}`);
    expect([env.XDG_CACHE_HOME, setting(UNIT, 'CacheDirectory')]).toEqual(['%C', 'tollgate']);
    expect(env.TOLLGATE_MASTER_KEY_FILE).toBe(`%d/${setting(UNIT, 'LoadCredential').split(':')[0]}`);
    expect(loadConfig({ argvFlags: {}, env, cwd: tmpdir() })).toMatchObject({
      hosted: true,
      listen: { host: '127.0.0.1' },
    });
    expect(setting(UNIT, 'ProtectSystem')).toBe('strict');
    expect(setting(UNIT, 'User')).not.toBe('root');
  });

  test('gives calls the time to end', () => {
    expect(Number(setting(UNIT, 'TimeoutStopSec')) * 1_000).toBeGreaterThan(STOP_MS_MIN);
  });

  test('is started again for as long as it takes: a database may come up late', () => {
    const [, section] = /^\[Unit\]\n([^[]*)/m.exec(UNIT)!;
    expect(setting(section!, 'StartLimitIntervalSec')).toBe('0');
    expect(setting(UNIT, 'Restart')).toBe('on-failure');
  });

  test('is not started again with settings that are wrong, or on a folder whose books have moved away', () => {
    expect(setting(UNIT, 'RestartPreventExitStatus')).toBe(`${EXIT.usage} ${EXIT.moved}`);
  });

  const analyze = spawnSync('systemd-analyze', ['--version']).status === 0;
  test.skipIf(!analyze)('is taken by systemd (skipped where systemd-analyze is missing)', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-unit-'));
    const unit = join(folder, 'tollgate.service');
    writeFileSync(unit, UNIT.replaceAll(`${place}/node_modules/.bin/node`, process.execPath));
    const verdict = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    const complaints = verdict.stderr.split('\n').filter((line) => line.includes('tollgate.service'));
    expect(complaints).toEqual([]);
  });
});

describe('the container', () => {
  const copied = (stage: string): string[] =>
    [...stage.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, sources]) => sources!.split(' '));

  test('is not root, has a Node that is new enough, and copies what there is', () => {
    expect(Number(setting(LAST_STAGE, 'USER').split(':')[0])).toBeGreaterThan(0);
    const onNode = STAGES.filter((stage) => !stage.startsWith('scratch '));
    for (const stage of onNode) expect(Number(/node:(\d+)/.exec(stage)?.[1])).toBeGreaterThanOrEqual(24);
    for (const path of STAGES.flatMap(copied)) expect(existsSync(join(ROOT, path)), path).toBe(true);
    expect(unknownVariables(Object.keys(IMAGE_ENV))).toEqual([]);
  });
});

describe('the page', () => {
  const blocks = [...PAGE.matchAll(/```sh\b.*\n([\s\S]*?)```/g)].map(([, block]) => block!);

  test('names every file of the folder, with the page about installing, and no other', () => {
    const pages = PAGE + read('docs/install.md');
    const named = [...pages.matchAll(/deploy\/([\w.]+)/g)].map(([, name]) => name!).filter((name) => name !== '.env');
    expect([...new Set(named)].sort()).toEqual(
      readdirSync(join(ROOT, 'deploy'))
        .filter((name) => name !== '.env')
        .sort(),
    );
  });

  test('tells only of commands and flags that there are', async () => {
    const lines = blocks.flatMap((block) => block.split('\n')).map((line) => line.replace(/\s+#.*$/, ''));
    const commands = lines.flatMap((line) => {
      const [, args] = /(?:^tollgate|tollgate\.js|run --rm tollgate) (.*)$/.exec(line) ?? [];
      return args === undefined ? [] : [args.split(' ')];
    });
    expect(commands.length).toBeGreaterThan(8);
    for (const args of commands) {
      const words = args.slice(0, args.findIndex((arg) => !/^[a-z]+$/.test(arg)) >>> 0);
      const flags = args.filter((arg) => arg.startsWith('--'));
      expect(await isCommand(words.slice(0, 2), flags), args.join(' ')).toBe(true);
    }
  });

  test('tells the times that are in force', () => {
    const text = PAGE.replaceAll('\n', ' ');
    expect(text).toContain(`${LIMITS.clientKeepAliveMs / 1_000} s that Tollgate keeps them`);
    expect(text).toContain(`${config.limits.bufferedMs / 1_000} s for a buffered call`);
    expect(text).toContain(`for up to ${config.limits.shutdownMs / 1_000} s`);
    expect(text).toContain(`sign of life every ${config.limits.keepAliveMs / 1_000} s`);
  });
});
