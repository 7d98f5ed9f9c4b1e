import type { UsageSource } from '../../src/canonical/receipt.ts';
import { idFloorAt } from '../../src/kit/ids.ts';
import type { LedgerOperation, Store } from '../../src/store/store.ts';
import type { Random } from '../../test/random.ts';
import { aHold, aSettle } from '../../test/store-fixtures.ts';
import type { World } from './world.ts';

export const TOKENS = ['fresh', 'cache_read', 'cache_write', 'cache_write_1h', 'output', 'reasoning'] as const;

/** Receipts as columns: a million of them as objects would not fit into memory. -1 stands for none. */
export interface ReceiptTable {
  readonly count: number;
  readonly createdMs: Float64Array;
  readonly account: Int16Array;
  readonly key: Int16Array;
  readonly person: Int16Array;
  readonly model: Int16Array;
  readonly route: Int16Array;
  readonly host: Int16Array;
  readonly team: Int16Array;
  readonly chain: Int32Array;
  readonly tokens: readonly Uint32Array[];
  readonly cost: Float64Array;
  readonly refunded: Float64Array;
  readonly firstByteMs: Int32Array;
  readonly durationMs: Int32Array;
  readonly voided: Uint8Array;
  readonly id: BigInt64Array;
}

export interface ReceiptTerms {
  readonly count: number;
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** Receipts in the order of their ids. Some get their id well before they are created, as calls with slow bodies do. */
export function makeReceipts(world: World, random: Random, { count, sinceMs, untilMs }: ReceiptTerms): ReceiptTable {
  const table = emptyTable(count);
  for (let at = 0; at < count; at++) {
    const requestMs = Math.floor(sinceMs + ((untilMs - sinceMs) * (at + random.next())) / count);
    const lateMs = random.chance(0.02) ? random.below(3_000_000) : random.below(40);
    table.id[at] = idFloorAt(requestMs) + BigInt(at % 4_000);
    table.createdMs[at] = Math.min(requestMs + lateMs, untilMs - 1);
    fillReceipt(table, at, world, random);
  }
  return table;
}

function emptyTable(count: number): ReceiptTable {
  const small = (): Int16Array => new Int16Array(count).fill(-1);
  return {
    count,
    createdMs: new Float64Array(count),
    account: small(),
    key: small(),
    person: small(),
    model: small(),
    route: small(),
    host: small(),
    team: small(),
    chain: new Int32Array(count).fill(-1),
    tokens: TOKENS.map(() => new Uint32Array(count)),
    cost: new Float64Array(count),
    refunded: new Float64Array(count),
    firstByteMs: new Int32Array(count).fill(-1),
    durationMs: new Int32Array(count).fill(-1),
    voided: new Uint8Array(count),
    id: new BigInt64Array(count),
  };
}

function fillReceipt(table: ReceiptTable, at: number, world: World, random: Random): void {
  // A few keys make most of the calls.
  const key = Math.floor(world.keys.length * random.next() ** 3);
  const { account, person, models, route } = world.keys[key]!;
  const hasKey = !random.chance(0.02);
  table.account[at] = account;
  table.key[at] = hasKey ? key : -1;
  table.person[at] = hasKey ? (person ?? -1) : -1;
  table.model[at] = random.pick(models);
  table.route[at] = route;
  table.team[at] = random.chance(0.3) ? random.below(world.teams.length) : -1;
  table.chain[at] = random.chance(0.1) ? random.below(50) : -1;
  table.voided[at] = random.chance(0.01) ? 1 : 0;
  if (table.voided[at] === 1) return;
  table.durationMs[at] = Math.floor(40 * 10_000 ** random.next());
  if (random.chance(0.03)) return;
  table.host[at] = table.model[at]! % 2 === 0 ? 0 : random.between(1, 3);
  for (const column of table.tokens) column[at] = random.chance(0.6) ? random.below(20_000) : 0;
  table.cost[at] = random.below(50_000_000);
  if (random.chance(0.6)) table.firstByteMs[at] = Math.floor(table.durationMs[at]! * random.next());
}

/** Writes the receipts as the gateway does: holds, then settlements. */
export async function storeReceipts(store: Store, table: ReceiptTable, world: World, epoch: bigint): Promise<void> {
  for (let from = 0; from < table.count; from += BATCH) {
    const places = Array.from({ length: Math.min(BATCH, table.count - from) }, (_, offset) => from + offset);
    await applyAll(
      store,
      places.map((at) => holdAt(table, at, world, epoch)),
      'held',
    );
    await applyAll(
      store,
      places.map((at) => endAt(table, at, world)),
    );
  }
}

const BATCH = 500;

async function applyAll(store: Store, operations: LedgerOperation[], expected?: string): Promise<void> {
  const outcomes = await store.apply(operations);
  const wrong = outcomes.find(
    ({ kind }) => !(expected === undefined ? ['settled', 'voided'] : [expected]).includes(kind),
  );
  if (wrong !== undefined) throw new Error(`A receipt could not be written: ${JSON.stringify(wrong, asText)}`);
}

function asText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

function holdAt(table: ReceiptTable, at: number, world: World, epoch: bigint): LedgerOperation {
  const key = table.key[at] === -1 ? null : world.keys[table.key[at]!]!;
  const team = table.team[at] === -1 ? null : world.teams[table.team[at]!]!;
  return aHold(table.id[at]!, 50_000_000n, {
    epoch,
    accountId: world.accounts[table.account[at]!]!,
    keyId: key?.id ?? null,
    personId: table.person[at] === -1 ? null : world.people[table.person[at]!]!,
    route: world.routes[table.route[at]!]!,
    effectiveModel: world.models[table.model[at]!]!,
    requestedModel: 'requested',
    createdMs: table.createdMs[at]!,
    labels: team === null ? null : { team, other: 'x' },
    chain: table.chain[at] === -1 ? null : `chain-${table.chain[at]};${1 + (at % 9)}`,
  });
}

function endAt(table: ReceiptTable, at: number, world: World): LedgerOperation {
  const id = table.id[at]!;
  if (table.voided[at] === 1) return { kind: 'void', id, reason: 'The process died.' };
  const [freshTokens, cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens, outputTokens, reasoningTokens] =
    table.tokens.map((column) => column[at]!) as [number, number, number, number, number, number];
  const hasUsage = table.host[at] !== -1;
  return {
    ...aSettle(id, BigInt(table.cost[at]!), {
      host: hasUsage ? world.hosts[table.host[at]!]! : null,
      usageSource: (hasUsage ? 'reported' : 'none') satisfies UsageSource,
      usage: hasUsage
        ? { freshTokens, cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens, outputTokens, reasoningTokens }
        : null,
      firstByteMs: table.firstByteMs[at] === -1 ? null : table.firstByteMs[at]!,
    }),
    endedMs: table.createdMs[at]! + table.durationMs[at]!,
  };
}

/** Refunds a part of some receipts. */
export async function refundSome(
  store: Store,
  table: ReceiptTable,
  world: World,
  random: Random,
  count: number,
): Promise<void> {
  for (let done = 0; done < count; done++) {
    const at = random.below(table.count);
    const left = table.cost[at]! - table.refunded[at]!;
    if (left < 1) continue;
    const amount = random.between(1, left);
    const id = idFloorAt(table.createdMs[at]! + 5) + BigInt(done) + 2_000_000n;
    const accountId = world.accounts[table.account[at]!]!;
    const [outcome] = await store.apply([
      {
        ...{ kind: 'credit', id, accountId, amountNanousd: BigInt(amount), reference: `refund-${done}`, note: null },
        ...{ createdMs: table.createdMs[at]!, callId: table.id[at]! },
      } as LedgerOperation,
    ]);
    if (outcome?.kind !== 'credited') throw new Error(`A refund failed: ${JSON.stringify(outcome, asText)}`);
    table.refunded[at]! += amount;
  }
}
