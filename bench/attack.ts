import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GatewayProcess, startGatewayProcess } from '../campaigns/gateway-process.ts';
import { configOf, MODEL } from '../campaigns/kill/world.ts';
import { systemClock } from '../src/kit/clock.ts';
import { startSim } from '../src/sim/sim.ts';

/**
 * One key sends the most expensive bodies as often as its request rate allows, or so many calls that most are refused, while
 * another makes small calls. Prints the other key's times without and under each attack, and their ratio:
 * `npm run bench:attack [-- <seconds per part>]`.
 */

const DEFAULT_SECONDS = 10;
const LARGE_PER_SECOND = 50;
const REFUSED_PER_SECOND = 1_000;
const CALLS_PER_SECOND = 50;
const RATIO_MAX = 5;

const CALL = { model: MODEL, messages: [{ role: 'user', content: 'hello' }], max_tokens: 20 };
const MANY_KEYS = Object.fromEntries(Array.from({ length: 99_000 }, (_, at) => [`key${at}`, 1]));
const ATTACKS: readonly Attack[] = [
  largeBody('many keys in one object', { ...CALL, metadata: MANY_KEYS }),
  largeBody('many values', { ...CALL, metadata: Array.from({ length: 500_000 }, () => 1) }),
  largeBody('many escapes', { ...CALL, user: '\n"'.repeat(250_000) }),
  { name: 'many refused calls', body: Buffer.from(JSON.stringify(CALL)), perSecond: REFUSED_PER_SECOND },
];

interface Attack {
  readonly name: string;
  readonly body: Buffer;
  readonly perSecond: number;
}

function largeBody(name: string, body: unknown): Attack {
  return { name, body: Buffer.from(JSON.stringify(body)), perSecond: LARGE_PER_SECOND };
}

interface Figures {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failed: number;
}

async function main(seconds: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-attack-'));
  const sim = await startSim();
  const configFile = join(folder, 'tollgate.config.json');
  // The limits that every gateway has by default.
  writeFileSync(configFile, JSON.stringify({ ...configOf(sim.url), rate_limit: {} }));
  const gateway = await startGatewayProcess({ folder, configFile });
  try {
    return await measureAll(gateway, seconds);
  } finally {
    await gateway.stop();
    await sim.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureAll(gateway: GatewayProcess, seconds: number): Promise<number> {
  const [attacker, other] = [await openAccount(gateway, 'mallory'), await openAccount(gateway, 'ada')];
  const body = Buffer.from(JSON.stringify(CALL));
  await callAtRate(gateway.url, other, body, CALLS_PER_SECOND, 2);
  const before = cpuMs(gateway.pid);
  const quiet = figuresOf(await callAtRate(gateway.url, other, body, CALLS_PER_SECOND, seconds));
  print('quiet', quiet, 1, (cpuMs(gateway.pid) - before) / seconds);
  let worst = 1;
  for (const { name, body: attack, perSecond } of ATTACKS) {
    const beforeMs = cpuMs(gateway.pid);
    const attacking = callAtRate(gateway.url, attacker, attack, perSecond, seconds);
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

interface Timed {
  readonly status: number;
  readonly ms: number;
}

/** Calls begin at fixed times, however long the earlier ones take. */
async function callAtRate(
  url: string,
  key: string,
  body: Buffer,
  perSecond: number,
  seconds: number,
): Promise<Timed[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const calls = Array.from({ length: perSecond * seconds }, async (_, at) => {
    await new Promise<void>((due) => systemClock.after((at * 1000) / perSecond, due));
    return call(agent, url, key, body);
  });
  const timed = await Promise.all(calls);
  agent.destroy();
  return timed;
}

function call(agent: Agent, url: string, key: string, body: Buffer): Promise<Timed> {
  const beganMs = systemClock.monotonicMs();
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': body.length };
  return new Promise((done) => {
    const end = (status: number): void => done({ status, ms: systemClock.monotonicMs() - beganMs });
    const sent = request(`${url}/v1/chat/completions`, { agent, method: 'POST', headers }, (response) => {
      response.resume();
      response.on('end', () => end(response.statusCode ?? 0));
    });
    sent.on('error', () => end(0));
    sent.end(body);
  });
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

process.exitCode = await main(Number(process.argv[2] ?? DEFAULT_SECONDS));
