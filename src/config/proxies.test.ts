import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Config, type Environment, loadConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-proxies-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FAR = 'https://api.far.example/v1';
const PROXY = 'http://proxy.example:3128';

interface Host {
  readonly base_url?: string;
  readonly proxy?: unknown;
}

function load(env: Environment, { base_url = FAR, ...entry }: Host = {}): Config {
  writeFileSync(join(folder, 'tollgate.config.json'), JSON.stringify({ hosts: [{ name: 'far', base_url, ...entry }] }));
  return loadConfig({ argvFlags: {}, env, cwd: folder });
}

function proxyFor(env: Environment, host: Host = {}): string | null {
  const proxy = load(env, host).hosts.find(({ row }) => row.name === 'far')?.proxy;
  return proxy === undefined ? null : `${proxy.name} ${proxy.source}`;
}

describe('the proxy of a host', () => {
  it('is the one that the environment names for its scheme', () => {
    expect(proxyFor({})).toBeNull();
    expect(proxyFor({ HTTPS_PROXY: PROXY })).toBe(`${PROXY} HTTPS_PROXY`);
    expect(proxyFor({ HTTP_PROXY: PROXY })).toBeNull();
    expect(proxyFor({ HTTP_PROXY: PROXY }, { base_url: 'http://far.example/v1' })).toBe(`${PROXY} HTTP_PROXY`);
    expect(proxyFor({ HTTPS_PROXY: PROXY }, { base_url: 'http://far.example/v1' })).toBeNull();
  });

  it('is that of the lower-case variable where both are set, and none where both are empty', () => {
    const other = 'http://other.example:1';
    expect(proxyFor({ HTTPS_PROXY: PROXY, https_proxy: other })).toBe(`${other} https_proxy`);
    expect(proxyFor({ HTTPS_PROXY: '', https_proxy: ' ' })).toBeNull();
  });

  it('may be named without a scheme', () => {
    expect(proxyFor({ HTTPS_PROXY: 'proxy.example:3128' })).toBe(`${PROXY} HTTPS_PROXY`);
  });

  it('is that of its own entry, whatever the environment says', () => {
    const env = { HTTPS_PROXY: PROXY, NO_PROXY: '*' };
    expect(proxyFor(env, { proxy: 'https://own.example' })).toBe('https://own.example hosts[0].proxy');
    expect(proxyFor({ HTTPS_PROXY: PROXY }, { proxy: false })).toBeNull();
  });

  it.each(['localhost', '127.0.0.1', '127.9.9.9', '[::1]'])('is never that of the environment for %s', (name) => {
    const base_url = `http://${name}:8000/v1`;
    expect(proxyFor({ HTTP_PROXY: PROXY }, { base_url })).toBeNull();
    expect(proxyFor({ HTTP_PROXY: PROXY }, { base_url, proxy: PROXY })).toBe(`${PROXY} hosts[0].proxy`);
  });

  it('is never that of the environment for the simulated host', () => {
    const { hosts } = load({ HTTPS_PROXY: PROXY, HTTP_PROXY: PROXY });
    expect(hosts.find(({ row }) => row.simulated)?.proxy).toBeUndefined();
  });

  it('never shows the user and the password in its URL', () => {
    const { hosts } = load({ HTTPS_PROXY: 'http://someone:hidden@proxy.example:3128' });
    const far = hosts.find(({ row }) => row.name === 'far')!;
    expect(far.proxy?.url.reveal()).toBe('http://someone:hidden@proxy.example:3128/');
    expect(JSON.stringify(hosts)).not.toMatch(/someone|hidden/);
    expect(far.proxy?.name).toBe(PROXY);
  });
});

describe('NO_PROXY', () => {
  const direct = (noProxy: string, base_url: string): boolean =>
    proxyFor({ HTTPS_PROXY: PROXY, HTTP_PROXY: PROXY, NO_PROXY: noProxy }, { base_url }) === null;

  it.each([
    ['*', FAR],
    ['api.far.example', FAR],
    ['far.example', FAR],
    ['.far.example', FAR],
    ['*.far.example', FAR],
    ['.api.far.example', FAR],
    ['API.Far.Example', FAR],
    ['other.example, far.example', FAR],
    ['other.example far.example', FAR],
    ['far.example:443', FAR],
    ['far.example:80', 'http://far.example/v1'],
    ['far.example:8443', 'https://far.example:8443/v1'],
    ['10.1.2.3', 'http://10.1.2.3:8000/v1'],
    ['10.0.0.0/8', 'http://10.1.2.3:8000/v1'],
    ['fd00::/8', 'http://[fd00::1]:8000/v1'],
    ['fd00::1', 'http://[fd00::1]:8000/v1'],
    ['[fd00::1]:8000', 'http://[fd00::1]:8000/v1'],
  ])('%s covers %s', (noProxy, url) => expect(direct(noProxy, url)).toBe(true));

  it.each([
    ['example', 'https://farexample/v1'],
    ['ar.example', FAR],
    ['www.far.example', FAR],
    ['far.example:8443', FAR],
    ['10.0.0.0/8', 'http://11.1.2.3:8000/v1'],
    ['10.0.0.0/99', 'http://10.1.2.3:8000/v1'],
    ['2.3', 'http://10.1.2.3:8000/v1'],
    ['[fd00::1]:8001', 'http://[fd00::1]:8000/v1'],
    [',', FAR],
  ])('%s does not cover %s', (noProxy, url) => expect(direct(noProxy, url)).toBe(false));
});

describe('a proxy that cannot be used', () => {
  const BAD = [
    'socks5://user:hidden@proxy.example',
    'http://',
    'http://proxy.example/path',
    'http://%zz@proxy.example',
  ];

  it.each(BAD)('is refused by the name of its variable: %s', (text) => {
    const refused = /^https_proxy: must be an http or https proxy, like "http:\/\/proxy\.example:3128"/;
    expect(() => load({ https_proxy: text })).toThrow(refused);
    expect(() => load({ https_proxy: text })).not.toThrow(/hidden|socks/);
  });

  it.each([...BAD, 7, true, null])('is refused by the path of its field: %s', (proxy) => {
    expect(() => load({}, { proxy })).toThrow(/hosts\[0\]\.proxy: must be /);
    expect(() => load({}, { proxy })).not.toThrow(/hidden|socks/);
  });
});
