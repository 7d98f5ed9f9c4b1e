import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Config, ConfigError, describeProblem, loadConfig } from './config.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-sso-'));
  writeFileSync(join(folder, 'secret'), 'of the gateway\n');
  writeFileSync(join(folder, 'empty'), '\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

const SSO = { issuer: 'https://accounts.example.com', client_id: 'tollgate', client_secret_file: 'secret' };

function load(settings: object, secrets: 'read' | 'leave' = 'read'): Config {
  const file = join(folder, 'tollgate.config.json');
  const hosted = { hosted: true, public_url: 'https://gateway.example' };
  writeFileSync(file, JSON.stringify({ ...hosted, ...settings }));
  const env = { TOLLGATE_MASTER_KEY: 'a'.repeat(64) };
  return loadConfig({ argvFlags: { config: file }, env, cwd: folder, secrets });
}

function problemsOf(settings: object): string[] {
  try {
    load(settings);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(describeProblem);
  }
}

test('single sign-on is configured with a secret from a file, which commands do not read', () => {
  const { sso } = load({ sso: { ...SSO, allowed_domains: ['Example.org'] } });
  expect(sso).toMatchObject({ clientId: 'tollgate', allowedDomains: ['example.org'] });
  expect(sso?.clientSecret.reveal()).toBe('of the gateway');
  expect(JSON.stringify(sso)).not.toContain('of the gateway');
  expect(load({ sso: { ...SSO, client_secret_file: 'missing' } }, 'leave').sso).toBeNull();
});

test.each([
  [{ sso: { ...SSO, issuer: 'http://accounts.example.com' } }, 'must be an https address'],
  [{ sso: { ...SSO, client_secret_file: 'missing' } }, 'names a file that cannot be read (ENOENT)'],
  [{ sso: { ...SSO, client_secret_file: 'empty' } }, 'must name a file with the secret and nothing else'],
  [{ sso: { ...SSO, allowed_domains: ['*'] } }, 'must be a domain, like "example.com"'],
  [{ sso: SSO, public_url: 'http://gateway.example' }, 'needs hosted mode and a `public_url` with https'],
  [{ sso: SSO, hosted: false }, 'needs hosted mode and a `public_url` with https'],
  [{ trusted_proxies: ['10.0.0.0/33'] }, 'must be an address or a network, like "10.0.0.0/8"'],
])('%j is refused with a remedy', (settings, message) => {
  const problems = problemsOf(settings);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(message);
});
