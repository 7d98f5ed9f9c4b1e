import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { askSocket } from '../campaigns/gateway-process.ts';
import { workerOf } from '../campaigns/workers/world.ts';
import type { ConfiguredHost } from '../src/hosts/host.ts';
import { type Harness, simHost, startHarness } from './harness.ts';
import { callRaw } from './raw-client.ts';

/** Settings that change while two workers run. */

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }], max_tokens: 50 };
const OLD_KEY = randomBytes(32).toString('hex');
const NEW_KEY = randomBytes(32).toString('hex');
/** With this many connections both workers get some, except once in 30,000 runs. */
const CONNECTIONS = 16;

let harness: Harness;
let secret: string;
let folder: string;
let keyFile: string;
/** A line for each time that the command for the master keys has run. */
let runsFile: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-keys-'));
  keyFile = join(folder, 'master-keys');
  writeFileSync(keyFile, OLD_KEY, { mode: 0o600 });
  runsFile = join(folder, 'runs');
  const command = `echo run >> '${runsFile}' && cat '${keyFile}'`;
  const masterKey = { kind: 'command', command, source: 'master_key_command' } as const;
  harness = await startHarness({ workers: 2, hosted: true, config: { masterKey } });
  secret = (await harness.mint()).secret;
});
beforeEach(() => harness.sim.reset());
afterAll(async () => {
  await harness.stop();
  rmSync(folder, { recursive: true, force: true });
});

function call(headers: Record<string, string> = {}) {
  return callRaw(`${harness.url}/v1/chat/completions`, ASK, {
    headers: { authorization: `Bearer ${secret}`, ...headers },
  });
}

test('the command for the master keys runs once for all workers, and what it prints is in no log, variable or argument', () => {
  expect(readFileSync(runsFile, 'utf8')).toBe('run\n');
  const visible = JSON.stringify([harness.log, process.env, process.argv, process.execArgv]);
  expect(visible).not.toContain(OLD_KEY);
});

test('settings that one worker cannot take change none of them', async () => {
  const { running, config, sim } = harness;
  const unusable = simHost(sim, { baseUrl: 'http://127.0.0.1:9/v1' });
  // A function cannot be sent to another thread.
  const hosts = [{ ...unusable, note: () => undefined } as ConfiguredHost];
  await expect(running.reload(config, hosts)).rejects.toThrow('could not be cloned');
  const calls = await Promise.all(Array.from({ length: CONNECTIONS }, () => call()));
  expect(calls.map(({ status }) => status)).toEqual(calls.map(() => 200));
  expect(new Set(calls.map(({ headers }) => workerOf(String(headers['x-gateway-request-id'])))).size).toBe(2);
});

test('what one worker encrypts under a rotated master key, the other one decrypts', async () => {
  writeFileSync(keyFile, `${NEW_KEY}\n${OLD_KEY}`, { mode: 0o600 });
  await askSocket(harness.folder)('seal.rotate', {});
  const first = await Promise.all(
    Array.from({ length: CONNECTIONS }, (_, at) => call({ 'idempotency-key': `stored-${at}` })),
  );
  const again = await Promise.all(
    Array.from({ length: CONNECTIONS }, (_, at) => call({ 'idempotency-key': `stored-${at}` })),
  );
  expect(again.map(({ status, text }) => [status, text])).toEqual(first.map(({ text }) => [200, text]));
});
