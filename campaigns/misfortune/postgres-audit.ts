import type { Receipt } from '../../src/canonical/receipt.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { Store } from '../../src/store/store.ts';
import { judgeCall, judgeReceipts, type ReceiptRow } from '../kill/audit.ts';
import type { ClientCall } from '../kill/load.ts';
import { rowOf, wasGivenBack } from '../replicas/audit.ts';
import { poll } from './poll.ts';
import type { Member, PostgresWorld } from './postgres-world.ts';

const PAGE_ROWS = 1000;
const PAGES_MAX = 100;
/** By then a dead process has been reaped, even on a busy machine. */
const HOLDS_MS_MAX = 40_000;
const READ_BACK_MAX = 5;

/** Everything wrong in the ledger of a round. Calls that may be gone are exact, void or missing; all others are exact. */
export async function auditPostgres(world: PostgresWorld, mayBeGone: ReadonlySet<string>): Promise<string[]> {
  const faults = await holdsEnd(world);
  const store = await openPostgresStore({ url: world.url, clock: systemClock });
  try {
    const { violations } = await store.verify();
    const receipts = await allReceipts(store);
    const rows = receipts.map(rowOf);
    const { calls } = world.round;
    const byLabel = new Map(rows.map((row) => [row.labels.user ?? '', row]));
    const judged = calls.filter((call) => !isUndone(call, byLabel.get(call.label), mayBeGone));
    return [
      ...faults,
      ...violations,
      ...judgeReceipts(rows, byLabel, calls),
      ...judged.flatMap((call) => judgeCall(call, byLabel.get(call.label))),
      ...world.members.flatMap((member) => judgeNames(member, receipts)),
      ...(await judgeBalances(world, store, receipts)),
      ...(await readBack(world, judged)),
    ];
  } finally {
    await store.close();
  }
}

/** The caller was told that the call is free, and it is; or a restored database has undone it. */
function isUndone(call: ClientCall, receipt: ReceiptRow | undefined, mayBeGone: ReadonlySet<string>): boolean {
  if (wasGivenBack(call, receipt) || (call.costNanousd === 0n && receipt === undefined)) return true;
  return mayBeGone.has(call.label) && receipt?.status !== 'settled';
}

async function holdsEnd(world: PostgresWorld): Promise<string[]> {
  const open = async (): Promise<number> => {
    const [row] = await world.sql<{ holds: string }>('SELECT count(*) AS holds FROM call WHERE state = 1');
    return Number(row!.holds);
  };
  try {
    await poll(async () => (await open()) === 0, 'no hold is open', HOLDS_MS_MAX);
    return [];
  } catch {
    return [`${await open()} holds were still open after ${HOLDS_MS_MAX} ms`];
  }
}

async function allReceipts(store: Store): Promise<Receipt[]> {
  const found: Receipt[] = [];
  let after: bigint | null = null;
  for (let page = 0; page < PAGES_MAX; page++) {
    const filter = { accountId: null, keyId: null, sinceMs: null };
    const rows: Receipt[] = await store.listReceipts(filter, { limit: PAGE_ROWS, after });
    found.push(...rows);
    if (rows.length < PAGE_ROWS) break;
    after = rows.at(-1)!.id;
  }
  return found;
}

/** A receipt names the model that its caller asked for, and a price list that its gateway had. */
function judgeNames({ traffics, priceVersions }: Member, receipts: readonly Receipt[]): string[] {
  const modelOf = new Map(traffics.flatMap(({ calls }) => calls.map(({ label, model }) => [label, model])));
  return receipts.flatMap(({ labels, requestedModel, effectiveModel, priceVersion }) => {
    const label = labels?.user ?? '';
    const model = modelOf.get(label);
    if (model === undefined) return [];
    return [
      ...(requestedModel === model && effectiveModel === model
        ? []
        : [`${label} called ${model}, but its receipt says ${requestedModel} and ${effectiveModel}`]),
      ...(priceVersions.has(priceVersion) ? [] : [`${label} has the price list ${priceVersion} of another gateway`]),
    ];
  });
}

/** Each account has its credit less the sum of its receipts, and nothing is held or overspent. */
async function judgeBalances({ stage }: PostgresWorld, store: Store, receipts: readonly Receipt[]): Promise<string[]> {
  const faults: string[] = [];
  for (const [accountId, creditNanousd] of stage.creditsNanousd) {
    const own = receipts.filter((receipt) => receipt.accountId === accountId);
    const mustBe = own.reduce((left, { costNanousd }) => left - costNanousd, creditNanousd);
    const { balanceNanousd, heldNanousd } = (await store.findAccount(accountId))!;
    if (balanceNanousd === mustBe && heldNanousd === 0n && mustBe >= 0n) continue;
    faults.push(`${accountId} has ${balanceNanousd}, of it ${heldNanousd} held, but its receipts leave ${mustBe}`);
  }
  return faults;
}

/** Callers read some of their calls back, from every gateway. */
async function readBack(world: PostgresWorld, judged: readonly ClientCall[]): Promise<string[]> {
  const told = judged.filter(({ costNanousd }) => costNanousd !== null && costNanousd > 0n).slice(-READ_BACK_MAX);
  const faults: string[] = [];
  for (const { gateway } of world.members) {
    for (const { label, key, requestId, costNanousd } of told) {
      const headers = { authorization: `Bearer ${key.secret}` };
      const response = await fetch(`${gateway.url}/v1/receipts/${requestId}`, { headers });
      const receipt = (await response.json()) as ReceiptRow;
      if (receipt.id === requestId && BigInt(receipt.cost_nanousd ?? -1) === costNanousd) continue;
      faults.push(`${label} reads back as ${response.status} ${JSON.stringify(receipt)}, not ${costNanousd}`);
    }
  }
  return faults;
}
