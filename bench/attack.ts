import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GatewayProcess, startGatewayProcess } from '../campaigns/gateway-process.ts';
import { readFlags } from '../test/read-flags.ts';
import type { AttackOrder } from './attacker.ts';
import { ATTACKS, CALL } from './attacks.ts';
import { callAtRate, type Timed } from './call-at-rate.ts';
import { Child } from './child.ts';

/**
 * One key sends the most expensive bodies as often as its request rate allows, or so many calls that most are refused, while
 * another makes small calls. Prints the other key's times without and under each attack, and their ratio:
 * `npm run bench:attack [-- <seconds per part>] [--only <part of an attack's name>]`. Attacker, gateway and simulated host are
 * processes of their own, so that their CPU times can be told apart.
 */

const DEFAULT_SECONDS = 10;
const CALLS_PER_SECOND = 50;
const RATIO_MAX = 5;

interface Figures {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failed: number;
}

/** Longer than any part: an attack ends when its last request has been answered. */
const ANSWER_MS_MAX = 600_000;

async function main(seconds: number, only: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-attack-'));
  const configFile = join(folder, 'tollgate.config.json');
  // The limits that every gateway has by default.
  writeFileSync(configFile, JSON.stringify({ simulated_host: true, rate_limit: {} }));
  const gateway = await startGatewayProcess({ folder, configFile });
  try {
    return await measureAll(gateway, seconds, only);
  } finally {
    await Child.stopAll();
    await gateway.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureAll(gateway: GatewayProcess, seconds: number, only: string): Promise<number> {
  const [key, other] = [await openAccount(gateway, 'mallory'), await openAccount(gateway, 'ada')];
  const attacker = (await Child.ready(null, 'attacker.ts', {})).child;
  const body = Buffer.from(JSON.stringify(CALL));
  await callAtRate(gateway.url, other, body, CALLS_PER_SECOND, 2);
  const before = cpuMs(gateway.pid);
  const quiet = figuresOf(await callAtRate(gateway.url, other, body, CALLS_PER_SECOND, seconds));
  print('quiet', quiet, 1, (cpuMs(gateway.pid) - before) / seconds);
  let worst = 1;
  for (const { name } of ATTACKS.filter((attack) => attack.name.includes(only))) {
    const beforeMs = cpuMs(gateway.pid);
    const order: AttackOrder = { attack: name, url: gateway.url, key, seconds };
    const attacking = attacker.ask<Timed[]>(order, ANSWER_MS_MAX);
    const under = figuresOf(await callAtRate(gateway.url, other, body, CALLS_PER_SECOND, seconds));
    const refused = (await attacking).filter(({ status }) => status === 429).length;
    worst = Math.max(worst, under.p99Ms / quiet.p99Ms);
    const attackName = `${name}, ${refused} refused`;
    print(attackName, under, under.p99Ms / quiet.p99Ms, (cpuMs(gateway.pid) - beforeMs) / seconds);
  }
  return worst <= RATIO_MAX ? 0 : 1;
}

async function openAccount(gateway: GatewayProcess, name: string): Promise<string> {
  await gateway.ask('accounts.create', { name });
  await gateway.ask('accounts.credit', { account: name, amount_nanousd: 1_000_000_000_000 });
  return ((await gateway.ask('keys.mint', { account: name })) as { secret: string }).secret;
}

function figuresOf(timed: readonly Timed[]): Figures {
  const times = timed.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))]!;
  return { p50Ms: at(0.5), p99Ms: at(0.99), failed: timed.filter(({ status }) => status !== 200).length };
}

/** Linux only: the unit of these figures is a hundredth of a second. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function print(name: string, { p50Ms, p99Ms, failed }: Figures, ratio: number, cpuMsPerSecond: number): void {
  const times = `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
  process.stdout.write(
    `${name}: ${times}, ${ratio.toFixed(1)} times the quiet p99, ${failed} failed, CPU ${cpuMsPerSecond.toFixed(0)} ms/s\n`,
  );
}

const { values, positionals } = readFlags({
  allowPositionals: true,
  options: { only: { type: 'string', default: '' } },
});
process.exitCode = await main(Number(positionals[0] ?? DEFAULT_SECONDS), values.only);
