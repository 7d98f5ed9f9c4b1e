import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GatewayProcess, runCommand, startGatewayProcess } from '../campaigns/gateway-process.ts';
import { configOf, MODEL } from '../campaigns/kill/world.ts';
import { LIMITS } from '../src/limits.ts';
import { startSim } from '../src/sim/sim.ts';
import type { Sim } from '../src/sim/sim-handle.ts';
import { StreamClient } from './stream-client.ts';
import { until } from './until.ts';

/** Clients that leave streams with long prompts before the first content, all at once, at a gateway process. */

const STREAMS = 64;
const PROMPT = 'hello '.repeat(80_000);
const CREDIT_NANOUSD = 100_000_000_000;
const ALLOWANCE_NANOUSD = 1_000_000_000;

interface ReceiptRow {
  readonly status: string;
  readonly ended: string;
  readonly cost_nanousd: number;
  readonly held_nanousd: number;
  readonly hangup_charged: boolean;
  readonly loss: { readonly amount_nanousd: number; readonly reason: string } | null;
}

let folder: string;
let sim: Sim;
let gateway: GatewayProcess;
let authorization: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-hangups-'));
  sim = await startSim();
  const config = configOf(sim.url) as { models: object[] };
  const models = config.models.map((model) => ({ ...model, context_window: 1_000_000 }));
  const configFile = join(folder, 'tollgate.config.json');
  writeFileSync(configFile, JSON.stringify({ ...config, models }));
  gateway = await startGatewayProcess({ folder, configFile });
  await gateway.ask('accounts.create', { name: 'ada' });
  await gateway.ask('accounts.credit', { account: 'ada', amount_nanousd: CREDIT_NANOUSD });
  const { secret } = (await gateway.ask('keys.mint', { account: 'ada' })) as { secret: string };
  authorization = `Bearer ${secret}`;
});

afterAll(async () => {
  await gateway?.stop();
  await sim?.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Balance {
  readonly balance_nanousd: number;
  readonly held_nanousd: number;
  readonly hangups: {
    readonly allowance_nanousd: number;
    readonly remaining_nanousd: number;
    readonly resets_at: number;
  };
}

async function balance(): Promise<Balance> {
  const response = await fetch(`${gateway.url}/v1/balance`, { headers: { authorization } });
  return (await response.json()) as Balance;
}

async function leaveAll(): Promise<ReceiptRow[]> {
  sim.script({ gateHead: 'long' });
  const ask = { model: MODEL, stream: true, max_tokens: 10, messages: [{ role: 'user', content: PROMPT }] };
  const clients = Array.from({ length: STREAMS }, () => new StreamClient(gateway.url, ask, { authorization }));
  await sim.waitForGate('long', STREAMS);
  for (const client of clients) client.leave();
  await until(async () => (await balance()).hangups.remaining_nanousd < ALLOWANCE_NANOUSD, 'the first call is free');
  // Hosts that were not cancelled answer, and are read to their end.
  sim.release('long', STREAMS);
  await until(async () => (await balance()).held_nanousd === 0, 'every call has ended');
  return ((await gateway.ask('receipts.list', { limit: STREAMS })) as { data: ReceiptRow[] }).data;
}

test('64 streams with 480 KB prompts that are left at once draw no more than the allowance with their holds', async () => {
  expect(Buffer.byteLength(PROMPT)).toBe(480_000);
  const hourBefore = Math.floor(Date.now() / LIMITS.lossWindowMs);
  const receipts = await leaveAll();
  expect(receipts).toHaveLength(STREAMS);
  expect(new Set(receipts.map(({ status, ended }) => `${status} ${ended}`))).toEqual(new Set(['settled client_gone']));

  const free = receipts.filter(({ hangup_charged }) => !hangup_charged);
  const charged = receipts.filter(({ hangup_charged }) => hangup_charged);
  expect(free.length).toBeGreaterThan(0);
  expect(charged.length).toBeGreaterThan(0);
  expect(free.map(({ cost_nanousd }) => cost_nanousd)).toEqual(free.map(() => 0));
  for (const { cost_nanousd } of charged) expect(cost_nanousd).toBeGreaterThan(0);

  const lost = free.reduce((sum, { held_nanousd }) => sum + held_nanousd, 0);
  for (const { loss, held_nanousd } of free) expect(loss?.amount_nanousd).toBeGreaterThanOrEqual(held_nanousd);
  const spent = charged.reduce((sum, { cost_nanousd }) => sum + cost_nanousd, 0);
  const { balance_nanousd, hangups } = await balance();
  expect(balance_nanousd).toBe(CREDIT_NANOUSD - spent);
  // A full hour may have begun in between, with an allowance of its own.
  if (Math.floor(Date.now() / LIMITS.lossWindowMs) !== hourBefore) return;
  expect(lost).toBeLessThanOrEqual(ALLOWANCE_NANOUSD);
  expect(hangups.remaining_nanousd).toBe(ALLOWANCE_NANOUSD - lost);
  for (const { held_nanousd } of charged) expect(held_nanousd).toBeGreaterThan(hangups.remaining_nanousd);
});

test('tollgate balance shows the state of hang-ups that /v1/balance shows', async () => {
  const shown = await runCommand(folder, 'balance', 'ada', '--json');
  expect(shown.code).toBe(0);
  expect(JSON.parse(shown.text).hangups).toEqual((await balance()).hangups);
  expect((await runCommand(folder, 'balance', 'ada')).text).toMatch(
    /^free hang-ups +\$\d.* of \$1.* left, whole again .* UTC$/m,
  );
});
