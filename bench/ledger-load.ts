import type { Settlement } from '../src/canonical/receipt.ts';
import type { IdSource } from '../src/kit/ids.ts';
import type { HoldRequest } from '../src/ledger/ledger.ts';
import type { Store } from '../src/store/store.ts';
import type { FilledAccount } from './fill-store.ts';

/** Only holds and settles, as the gateway does: the cost of durable money by itself. */
interface Money {
  hold(request: HoldRequest): Promise<unknown>;
  settle(id: bigint, settlement: Settlement): Promise<unknown>;
}

export interface Figures {
  readonly pairs: number;
  readonly pairsPerSecond: number;
  /** CPU time of this process. */
  readonly cpuMicrosPerPair: number;
  /** The part of it spent in the kernel. */
  readonly systemMicrosPerPair: number;
  readonly pairP50Ms: number;
  readonly pairP99Ms: number;
  readonly pairMaxMs: number;
}

export interface Load {
  readonly money: Money;
  readonly accounts: readonly FilledAccount[];
  /** The part of all calls that the first account makes; the others share the rest. */
  readonly hotPart: number;
  readonly ids: IdSource;
  readonly priceId: number;
  readonly clients: number;
  readonly forSeconds: number;
}

/** The same operations, each in a commit of its own. */
export function oneByOne(store: Store, epoch: bigint): Money {
  return {
    hold: (request) => store.apply([{ kind: 'hold', epoch, createdMs: Date.now(), ...request }]),
    settle: (id, settlement) => store.apply([{ kind: 'settle', id, endedMs: Date.now(), settlement, kept: null }]),
  };
}

export async function load(options: Load): Promise<Figures> {
  const latencies: number[] = [];
  const start = performance.now();
  const cpu = process.cpuUsage();
  const endMs = start + options.forSeconds * 1000;
  await Promise.all(Array.from({ length: options.clients }, () => client(options, endMs, latencies)));
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

async function client(options: Load, endMs: number, latencies: number[]): Promise<void> {
  const { money, ids, priceId } = options;
  while (performance.now() < endMs) {
    const { accountId, keyId } = pick(options);
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

function pick({ accounts, hotPart }: Load): FilledAccount {
  if (Math.random() < hotPart) return accounts[0]!;
  return accounts[Math.floor(Math.random() * accounts.length)]!;
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
  tries: null,
  lossNanousd: 0n,
  lossReason: null,
  hangupCharged: null,
  adjusted: null,
  firstByteMs: null,
};
