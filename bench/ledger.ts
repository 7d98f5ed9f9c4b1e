import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Settlement } from '../src/canonical/receipt.ts';
import { systemClock } from '../src/kit/clock.ts';
import { IdSource } from '../src/kit/ids.ts';
import { type HoldRequest, Ledger } from '../src/ledger/ledger.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../src/store/store.ts';
import { type FilledAccount, fillStore } from './fill-store.ts';
import { describeMachine } from './machine.ts';

/** Hold and settle, as the gateway does it, but nothing else: what durable money costs by itself. */
interface Money {
  hold(request: HoldRequest): Promise<unknown>;
  settle(id: bigint, settlement: Settlement): Promise<unknown>;
}

interface Figures {
  readonly pairs: number;
  readonly pairsPerSecond: number;
  readonly cpuMicrosPerPair: number;
  /** The part of it spent in the kernel. */
  readonly systemMicrosPerPair: number;
  readonly pairP50Ms: number;
  readonly pairP99Ms: number;
  readonly pairMaxMs: number;
}

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    accounts: { type: 'string', default: '1000' },
    clients: { type: 'string', default: '64' },
    seconds: { type: 'string', default: '10' },
  },
});
const rows = Number(values.rows);
const clients = Number(values.clients);
const seconds = Number(values.seconds);

async function main(folder: string): Promise<void> {
  print('machine', describeMachine(folder));
  const accounts = fillStore({ folder, calls: rows, accounts: Number(values.accounts) });
  const store = await openSqliteStore({ folder, clock: systemClock });
  const { epoch, number } = await store.beginInstance();
  const priceId = await store.registerPrices('bench', '{}');
  const ids = new IdSource(systemClock, number);
  const ledger = new Ledger({ store, clock: systemClock, epoch });
  const run = (money: Money, forSeconds: number) => load({ money, accounts, ids, priceId, forSeconds });

  await run(ledger, 1);
  const batched = await run(ledger, seconds);
  print(`batched, ${clients} clients`, batched);
  const single = await run(oneByOne(store, epoch), Math.min(seconds, 5));
  print('one transaction per operation', single);
  print('ratio', Number((batched.pairsPerSecond / single.pairsPerSecond).toFixed(1)));
  const report = await store.verify();
  print('books', { receipts: report.receipts, openHolds: report.openHolds, violations: report.violations });
  await store.close();
}

/** The same operations, each in a commit of its own. */
function oneByOne(store: Store, epoch: bigint): Money {
  return {
    hold: (request) => store.apply([{ kind: 'hold', epoch, createdMs: Date.now(), ...request }]),
    settle: (id, settlement) => store.apply([{ kind: 'settle', id, endedMs: Date.now(), settlement, kept: null }]),
  };
}

interface Load {
  readonly money: Money;
  readonly accounts: readonly FilledAccount[];
  readonly ids: IdSource;
  readonly priceId: number;
  readonly forSeconds: number;
}

async function load(options: Load): Promise<Figures> {
  const latencies: number[] = [];
  const start = performance.now();
  const cpu = process.cpuUsage();
  const endMs = start + options.forSeconds * 1000;
  await Promise.all(Array.from({ length: clients }, () => client(options, endMs, latencies)));
  const { user, system } = process.cpuUsage(cpu);
  const elapsed = (performance.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (part: number) => Number(latencies[Math.floor((latencies.length - 1) * part)]!.toFixed(2));
  return {
    pairs: latencies.length,
    pairsPerSecond: Math.round(latencies.length / elapsed),
    cpuMicrosPerPair: Number(((user + system) / latencies.length).toFixed(1)),
    systemMicrosPerPair: Number((system / latencies.length).toFixed(1)),
    pairP50Ms: at(0.5),
    pairP99Ms: at(0.99),
    pairMaxMs: at(1),
  };
}

async function client({ money, accounts, ids, priceId }: Load, endMs: number, latencies: number[]): Promise<void> {
  while (performance.now() < endMs) {
    const { accountId, keyId } = accounts[Math.floor(Math.random() * accounts.length)]!;
    const id = ids.next();
    const start = performance.now();
    await money.hold({
      id,
      accountId,
      keyId,
      amountNanousd: 2_000_000n,
      ceilingNanousd: null,
      route: '/v1/chat/completions',
      stream: false,
      requestedModel: 'bench-model',
      effectiveModel: 'bench-model',
      priceId,
      labels: null,
      idempotency: null,
    });
    await money.settle(id, SETTLEMENT);
    latencies.push(performance.now() - start);
  }
}

const SETTLEMENT: Settlement = {
  ended: 'complete',
  httpStatus: 200,
  usageSource: 'reported',
  usage: {
    freshTokens: 400,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    outputTokens: 200,
    reasoningTokens: 0,
  },
  components: {
    freshNanousd: 400_000n,
    cacheWriteNanousd: 0n,
    cacheReadNanousd: 0n,
    outputNanousd: 500_000n,
  },
  costNanousd: 900_000n,
  host: 'bench-host',
  attempts: 1,
  lossNanousd: 0n,
  lossReason: null,
};

function print(what: string, figures: unknown): void {
  process.stdout.write(`${what}: ${JSON.stringify(figures)}\n`);
}

const scratch = join(import.meta.dirname, '../.tollgate');
mkdirSync(scratch, { recursive: true });
const folder = mkdtempSync(join(scratch, 'bench-'));
try {
  await main(folder);
} finally {
  rmSync(folder, { recursive: true });
}
