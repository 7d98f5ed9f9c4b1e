import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '../test/random.ts';
import { type GatewayProcess, runCommand, startGatewayProcess } from './gateway-process.ts';
import { Inspector, type Memory } from './soak/inspector.ts';
import { SoakTraffic } from './soak/traffic.ts';

/**
 * Mixed traffic for a long time against a gateway process and a simulated host in a process of its own. The memory after
 * a garbage collection is printed again and again; after the first third it must stay where it is.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '300' },
    'sample-seconds': { type: 'string', default: '60' },
    workers: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});
const ACCOUNTS = 50;
const CREDIT_NANOUSD = 10n ** 15n;
const GROWTH_MAX = 0.01;

interface Sample extends Memory {
  readonly minute: number;
}

async function main(folder: string): Promise<number> {
  const inspectorPort = await freePort();
  const gateway = await start(folder, inspectorPort);
  const inspector = await Inspector.connect(inspectorPort);
  const accounts = await openAccounts(gateway);
  const traffic = new SoakTraffic(gateway.url, await Promise.all(accounts.map((one) => mint(gateway, one))), random());
  traffic.start(Number(values.rate));
  const samples = await watch(inspector, traffic, async (at) => {
    traffic.useKey(await mint(gateway, accounts[at % accounts.length]!));
  });
  await traffic.stop();
  inspector.close();
  await gateway.stop();
  const verified = await runCommand(folder, 'ledger', 'verify');
  say(verified.text.trim());
  return judge(samples, traffic) && verified.code === 0 ? 0 : 1;
}

function start(folder: string, inspectorPort: number): Promise<GatewayProcess> {
  const configFile = join(folder, 'tollgate.config.json');
  const unlimited = {
    requests_per_second: null,
    streams: null,
    body_bytes_per_second: null,
    json_members_per_second: null,
  };
  const workers = values.workers === undefined ? {} : { workers: Number(values.workers) };
  writeFileSync(configFile, JSON.stringify({ simulated_host: true, rate_limit: unlimited, ...workers }));
  const env = { NODE_OPTIONS: `--inspect=127.0.0.1:${inspectorPort}` };
  return startGatewayProcess({ folder, configFile, env });
}

async function openAccounts(gateway: GatewayProcess): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < ACCOUNTS; at++) {
    const { id } = (await gateway.ask('accounts.create', { name: `soak-${at}` })) as { id: string };
    await gateway.ask('accounts.credit', { account: id, amount_nanousd: String(CREDIT_NANOUSD) });
    ids.push(id);
  }
  return ids;
}

async function mint(gateway: GatewayProcess, account: string): Promise<string> {
  return ((await gateway.ask('keys.mint', { account })) as { secret: string }).secret;
}

async function watch(
  inspector: Inspector,
  traffic: SoakTraffic,
  eachSample: (at: number) => Promise<void>,
): Promise<Sample[]> {
  const sampleMs = Number(values['sample-seconds']) * 1000;
  const count = Math.max(3, Math.round((Number(values.minutes) * 60_000) / sampleMs));
  const samples: Sample[] = [];
  say('minute      sent  answered  refused  hung up  failed   heap MB  external MB   rss MB');
  for (let at = 1; at <= count; at++) {
    await new Promise((done) => setTimeout(done, sampleMs));
    await eachSample(at);
    const sample = { minute: (at * sampleMs) / 60_000, ...(await inspector.memory()) };
    samples.push(sample);
    say(line(sample, traffic));
  }
  return samples;
}

function line({ minute, heapMb, externalMb, rssMb }: Sample, { counts }: SoakTraffic): string {
  const { sent, answered, refused, hungUp, failed } = counts;
  return [
    minute.toFixed(1).padStart(6),
    ...[sent, answered].map((count) => String(count).padStart(10)),
    ...[refused, hungUp].map((count) => String(count).padStart(9)),
    String(failed).padStart(8),
    heapMb.toFixed(2).padStart(10),
    externalMb.toFixed(1).padStart(13),
    rssMb.toFixed(0).padStart(9),
  ].join('');
}

/** The heap must level off after the first third; `rss` also has what the allocator keeps, so it is only printed. */
function judge(samples: readonly Sample[], { counts }: SoakTraffic): boolean {
  const settled = samples.slice(Math.floor(samples.length / 3));
  const [first, last] = [settled[0]!, settled.at(-1)!];
  const growth = last.heapMb / first.heapMb - 1;
  say(`heap       ${(growth * 100).toFixed(2)} % more than after the first third; bar ${GROWTH_MAX * 100} %`);
  say(`rss        ${(last.rssMb - first.rssMb).toFixed(0)} MB more`);
  for (const [how, count] of counts.failures) say(`failed     ${count} times: ${how}`);
  return growth <= GROWTH_MAX && counts.failed === 0;
}

function random(): Random {
  return new Random(Number(values.seed));
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

// The gateway ends when this process exits, which a signal alone does not make it do.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const folder = mkdtempSync(join(tmpdir(), 'tollgate-soak-'));
try {
  process.exitCode = await main(folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
