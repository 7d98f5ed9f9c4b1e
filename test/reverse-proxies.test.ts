import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connect } from 'node:tls';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashPassword } from '../src/accounts/passwords.ts';
import { loadConfig } from '../src/config/config.ts';
import { LIMITS } from '../src/limits.ts';
import { type Harness, startHarness } from './harness.ts';
import { enrol, PUBLIC_URL } from './people.ts';
import { until } from './until.ts';

/** The example configs of reverse proxies with TLS: compared with the limits of the gateway, and run where the programs are installed. */

const ROOT = resolve(import.meta.dirname, '..');
const NAME = 'gateway.example';
const NGINX = readFileSync(join(ROOT, 'deploy/nginx.conf'), 'utf8');
const HAPROXY = readFileSync(join(ROOT, 'deploy/haproxy.cfg'), 'utf8');
const CADDY = readFileSync(join(ROOT, 'deploy/Caddyfile'), 'utf8');
const { limits } = loadConfig({ argvFlags: {}, env: {}, cwd: tmpdir(), secrets: 'leave' });

const secondsOf = (text: string, name: string): number =>
  Number(new RegExp(`^\\s*${name} (\\d+)s;?$`, 'm').exec(text)?.[1]);

describe('the limits of the gateway are in force behind', () => {
  test('nginx', () => {
    const megabytes = Number(/^\s*client_max_body_size (\d+)m;$/m.exec(NGINX)?.[1]);
    expect(megabytes * 1024 * 1024).toBeGreaterThan(LIMITS.groupBytesMax);
    for (const name of ['proxy_read_timeout', 'proxy_send_timeout'])
      expect(secondsOf(NGINX, name) * 1_000).toBeGreaterThan(Math.max(limits.bufferedMs, limits.firstFrameMs));
    expect(secondsOf(NGINX, 'keepalive_timeout') * 1_000).toBeLessThan(LIMITS.clientKeepAliveMs);
    expect(secondsOf(NGINX, 'client_header_timeout') * 1_000).toBe(limits.requestHeadMs);
    // Also without the header by which our streams turn buffering off.
    expect(NGINX).toMatch(/^ *proxy_buffering off;$/m);
    expect(NGINX).toMatch(/^ *proxy_request_buffering off;$/m);
  });

  test('Caddy', () => {
    const megabytes = Number(/^\s*max_size (\d+)MB$/m.exec(CADDY)?.[1]);
    expect(megabytes * 1_000_000).toBeGreaterThan(LIMITS.groupBytesMax);
    expect(secondsOf(CADDY, 'response_header_timeout') * 1_000).toBeGreaterThan(
      Math.max(limits.bufferedMs, limits.firstFrameMs),
    );
    expect(secondsOf(CADDY, 'keepalive') * 1_000).toBeLessThan(LIMITS.clientKeepAliveMs);
    // With -1 Caddy would go on asking for clients that have hung up; it flushes streams by themselves anyway.
    expect(CADDY).not.toMatch(/^\s*flush_interval/m);
  });
});

interface Setup {
  readonly folder: string;
  readonly port: number;
  readonly gatewayPort: string;
  readonly certificate: string;
  readonly key: string;
}

interface Proxy {
  readonly name: string;
  readonly isInstalled: boolean;
  /** Writes its files; returns the command that starts it. */
  prepare(setup: Setup): readonly string[];
  /** Null if the example's log has no ids of receipts. */
  readonly logFile: string | null;
}

/** Replaces a text that must be there. */
function replaced(text: string, was: string | RegExp, is: string): string {
  const result = text.replaceAll(was, is);
  if (result === text) throw new Error(`There is no ${was}.`);
  return result;
}

/** A port that was free a moment ago: these programs cannot choose one themselves. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const nginx: Proxy = {
  name: 'nginx',
  isInstalled: spawnSync('nginx', ['-v']).status === 0,
  logFile: 'tollgate.log',
  prepare({ folder, port, gatewayPort, certificate, key }) {
    let site = replaced(NGINX, '127.0.0.1:8080', `127.0.0.1:${gatewayPort}`);
    // One loopback port instead of four public ones; the server that redirects to TLS is left out.
    site = replaced(site, /^server \{\n {4}listen 80;[\s\S]*?^\}\n/gm, '');
    site = replaced(site, /^ *listen \[::\].*\n/gm, '');
    site = replaced(site, 'listen 443', `listen 127.0.0.1:${port}`);
    site = replaced(site, '/etc/ssl/tollgate/fullchain.pem', certificate);
    site = replaced(site, '/etc/ssl/tollgate/privkey.pem', key);
    site = replaced(site, '/var/log/nginx/tollgate.log', join(folder, 'tollgate.log'));
    writeFileSync(join(folder, 'site.conf'), site);
    mkdirSync(join(folder, 'temp'));
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((kind) => `${kind}_temp_path ${join(folder, 'temp', kind)};`)
      .join(' ');
    const main = `daemon off; pid ${join(folder, 'pid')}; error_log stderr; events {} http { ${temporary} include site.conf; }`;
    writeFileSync(join(folder, 'nginx.conf'), main);
    return ['nginx', '-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'];
  },
};

const caddy: Proxy = {
  name: 'Caddy',
  isInstalled: spawnSync('caddy', ['version']).status === 0,
  logFile: 'caddy.log',
  prepare({ folder, port, gatewayPort, certificate, key }) {
    let site = replaced(CADDY, '127.0.0.1:8080', `127.0.0.1:${gatewayPort}`);
    const options = '{\n\tadmin off\n\tauto_https disable_redirects\n}\n';
    site = replaced(
      site,
      `${NAME} {`,
      `${options}https://${NAME}:${port} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}`,
    );
    site = replaced(site, '\tlog {', `\tlog {\n\t\toutput file ${join(folder, 'caddy.log')}`);
    writeFileSync(join(folder, 'Caddyfile'), site);
    return ['caddy', 'run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'];
  },
};

const haproxy: Proxy = {
  name: 'HAProxy',
  isInstalled: spawnSync('haproxy', ['-v']).status === 0,
  logFile: null,
  prepare({ folder, port, gatewayPort, certificate, key }) {
    const pem = join(folder, 'both.pem');
    writeFileSync(pem, readFileSync(certificate, 'utf8') + readFileSync(key, 'utf8'));
    let site = replaced(HAPROXY, 'bind :8080', `bind 127.0.0.1:${port} ssl crt ${pem} alpn h2,http/1.1`);
    site = replaced(site, 'server-template replica 3 tollgate:8080', `server replica 127.0.0.1:${gatewayPort}`);
    // Two file descriptors for each connection may be more than this machine allows.
    site = replaced(site, 'maxconn 20000', 'maxconn 100');
    // The address of one known gateway is no name to be looked up again and again.
    site = replaced(site, ' resolvers names init-addr none', '');
    writeFileSync(join(folder, 'haproxy.cfg'), site);
    return ['haproxy', '-f', join(folder, 'haproxy.cfg')];
  },
};

describe.each([nginx, caddy, haproxy])('$name', (proxy) => {
  describe.skipIf(!proxy.isInstalled)(`runs (skipped where ${proxy.name} is missing)`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-proxy-'));
    const certificate = join(folder, 'certificate.pem');
    let harness: Harness;
    let child: ChildProcess;
    let agent: Agent;
    let url: string;
    let apiKey: string;
    let said = '';

    beforeAll(async () => {
      harness = await startHarness({ hosted: true, config: { publicUrl: PUBLIC_URL, trustedProxies: ['127.0.0.1'] } });
      apiKey = (await harness.mint({ creditNanousd: 10_000_000_000n })).secret;
      const key = join(folder, 'key.pem');
      const subject = ['-subj', `/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME}`];
      const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
      execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', certificate], {
        stdio: 'pipe',
      });
      const port = await freePort();
      const gatewayPort = new URL(harness.url).port;
      const [program, ...args] = proxy.prepare({ folder, port, gatewayPort, certificate, key });
      child = spawn(program!, args, {
        env: { PATH: process.env.PATH ?? '', HOME: folder },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      for (const output of [child.stdout!, child.stderr!]) output.on('data', (chunk) => (said += chunk));
      agent = new Agent({ connect: { ca: readFileSync(certificate), servername: NAME } });
      url = `https://127.0.0.1:${port}`;
      await until(async () => {
        if (child.exitCode !== null) throw new Error(`${proxy.name} ended: ${said}`);
        return (await ask('GET', '/readyz').catch(() => null))?.statusCode === 200;
      }, `${proxy.name} passes requests on; it said: ${said}`);
    });
    afterAll(async () => {
      const ended = child.exitCode === null ? once(child, 'exit') : null;
      child.kill('SIGTERM');
      await Promise.all([ended, agent.destroy(), harness.stop()]);
      rmSync(folder, { recursive: true });
    });

    const ask = (method: 'GET' | 'POST', path: string, body?: object) =>
      request(`${url}${path}`, {
        method,
        dispatcher: agent,
        headers: { host: `${NAME}:${new URL(url).port}`, 'x-api-key': apiKey, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });

    test('passes each chunk of a stream on before the next one is there', async () => {
      harness.sim.script({ gate: 'chunk', words: 3, tokensPerChunk: 1 }, { times: 1 });
      const body = { model: 'sim-gpt', stream: true, messages: [{ role: 'user', content: 'hello' }] };
      const asked = ask('POST', '/v1/chat/completions', body);
      await harness.sim.waitForGate('chunk', 1);
      harness.sim.release('chunk', 2);
      const chunks = (await asked).body[Symbol.asyncIterator]();
      expect(String((await chunks.next()).value)).toContain('data: {');
      harness.sim.release('chunk', 20);
      let rest = '';
      for (let chunk = await chunks.next(); !chunk.done; chunk = await chunks.next()) rest += String(chunk.value);
      expect(rest).toContain('data: [DONE]');
    });

    test('tells the gateway that a client has hung up, so that a call without content costs nothing', async () => {
      harness.sim.script({ gateHead: 'head' }, { times: 1 });
      const body = JSON.stringify({ model: 'sim-gpt', stream: true, messages: [{ role: 'user', content: 'hello' }] });
      const { hostname, port } = new URL(url);
      const client = connect({ host: hostname, port: Number(port), servername: NAME, ca: readFileSync(certificate) });
      client.on('error', () => undefined).resume();
      const lines = [`host: ${NAME}:${port}`, `x-api-key: ${apiKey}`, 'content-type: application/json'];
      const head = ['POST /v1/chat/completions HTTP/1.1', ...lines, `content-length: ${body.length}`].join('\r\n');
      client.write(`${head}\r\n\r\n${body}`);
      await harness.sim.waitForGate('head', 1);
      client.destroy();
      const left = () => harness.log.find(({ ended }) => ended === 'client_gone');
      await until(() => left() !== undefined, 'the call has ended because its client is gone');
      expect(left()).toMatchObject({ cost_nanousd: 0 });
    });

    test('passes the receipt on, and logs its id but no key', async () => {
      const body = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }] };
      const { statusCode, headers, body: answer } = await ask('POST', '/v1/chat/completions', body);
      await answer.dump();
      expect(statusCode).toBe(200);
      expect(Number(headers['x-gateway-cost-nanousd'])).toBeGreaterThan(0);
      const id = String(headers['x-gateway-request-id']);
      const { logFile } = proxy;
      const log = (): string => (logFile === null ? said : said + readFileSync(join(folder, logFile), 'utf8'));
      await until(() => log().includes(logFile === null ? '/v1/chat/completions' : id), 'the log has the call');
      expect(log()).not.toContain(apiKey);
    });

    test('passes sessions on as they are, and the address of the client whatever the client says it is', async () => {
      const password = 'correct horse battery';
      const { books } = harness.running;
      const personId = await enrol(books, 'ada@example.com', { passwordHash: await hashPassword(password) });
      // Not the address of the proxy, which the gateway trusts.
      const address = '127.0.0.2';
      const connection = { ca: readFileSync(certificate), servername: NAME };
      const dispatcher = new Agent({ connect: connection, localAddress: address });
      const signIn = (email: string, claimed: string) =>
        request(`${url}/manage/v1/sign-in`, {
          method: 'POST',
          dispatcher,
          headers: {
            host: `${NAME}:${new URL(url).port}`,
            origin: PUBLIC_URL,
            'content-type': 'application/json',
            'x-forwarded-for': claimed,
            'x-forwarded-proto': 'https',
          },
          body: JSON.stringify({ email, password }),
        });
      const { statusCode, headers, body } = await signIn('ada@example.com', '198.51.100.1');
      await body.dump();
      const cookie = String(headers['set-cookie']);
      expect(statusCode).toBe(201);
      expect(cookie).toMatch(/^__Host-tollgate=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=\d+$/);
      expect(await books.store.directory.listSessions(personId)).toMatchObject([{ address }]);
      const statuses: number[] = [];
      for (let time = 0; time <= LIMITS.signInFailuresMax; time++) {
        const failed = await signIn(`nobody${time}@example.com`, `198.51.100.${time}`);
        await failed.body.dump();
        statuses.push(failed.statusCode);
      }
      expect(statuses).toEqual([...Array.from({ length: LIMITS.signInFailuresMax }, () => 401), 429]);
      await dispatcher.destroy();
      const secret = /=([\w-]{43});/.exec(cookie)![1]!;
      const log = proxy.logFile === null ? said : said + readFileSync(join(folder, proxy.logFile), 'utf8');
      expect([log.includes(secret), log.includes(password)]).toEqual([false, false]);
    });

    test('lets a long prompt through', async () => {
      const words = 'word '.repeat(600_000);
      const body = { model: 'sim-gpt', max_tokens: 1, messages: [{ role: 'user', content: words }] };
      const { statusCode, body: answer } = await ask('POST', '/v1/chat/completions', body);
      expect([statusCode, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([
        400,
        'context_length_exceeded',
      ]);
    });
  });
});
