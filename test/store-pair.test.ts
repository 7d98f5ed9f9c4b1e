import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Store } from '../src/store/store.ts';
import { USAGE_BUCKETS, type UsageFilter, type UsageQuery } from '../src/store/usage-report.ts';
import { audit } from './people-fixtures.ts';
import { openPostgres, openSqliteInline } from './store-engines.ts';
import { NOON_MS } from './store-fixtures.ts';
import { anyStep, type Step } from './store-model-steps.ts';
import { stateOf, Walker } from './store-walker.ts';

/** What the memory driver does not have: reports, proofs, webhooks and cleaning up. The two engines must agree on it. */

const DAY_MS = 86_400_000;

type EngineStep =
  | { readonly step: 'sweepJobs' }
  | { readonly step: 'putWebhook'; readonly accountId: bigint | null }
  | { readonly step: 'removeWebhook'; readonly accountId: bigint | null }
  | { readonly step: 'handOver' };

const anyOwner = fc.option(fc.bigInt(1n, 3n));
const anyEngineStep: fc.Arbitrary<EngineStep> = fc.oneof(
  fc.record({ step: fc.constant('sweepJobs' as const) }),
  fc.record({ step: fc.constant('putWebhook' as const), accountId: anyOwner }),
  fc.record({ step: fc.constant('removeWebhook' as const), accountId: anyOwner }),
  fc.record({ step: fc.constant('handOver' as const) }),
);

class EngineWalker extends Walker {
  #nextId = 1n;

  async takeAny(step: Step | EngineStep): Promise<unknown> {
    const { jobs, directory } = this.store;
    const nowMs = this.clock.nowMs();
    if (step.step === 'sweepJobs') return jobs.sweep(nowMs);
    if (step.step === 'removeWebhook') return directory.removeWebhook(step.accountId, 'hook', audit('removed'));
    if (step.step === 'putWebhook') {
      const hook = { name: 'hook', url: 'https://example.com/', events: null, createdMs: NOON_MS };
      const webhook = { id: this.#nextId++, accountId: step.accountId, ...hook };
      return directory.putWebhook(webhook, { id: this.#nextId++, sealed: Buffer.from('s') }, audit('put'));
    }
    if (step.step !== 'handOver') return this.take(step);
    const events = await jobs.events(2);
    const handed = events.map(({ subjectId, accountId, type }) => {
      const event = { id: this.#nextId++, accountId, type, dataJson: '{}', createdMs: nowMs };
      return { subjectId, event };
    });
    return [events, await jobs.handOver(handed)];
  }
}

const ANY: UsageFilter = { accountId: null, keyId: null, personId: null, model: null, route: null, host: null };
const QUERY: UsageQuery = {
  ...{ sinceMs: NOON_MS - 30 * DAY_MS, untilMs: NOON_MS + 900 * DAY_MS, groups: [], detail: null },
  ...{ bucket: 'none', filter: ANY, times: true },
};
const GROUPINGS: readonly Partial<UsageQuery>[] = [
  ...USAGE_BUCKETS.map((bucket) => ({ bucket })),
  { groups: ['account_id', 'key_id', 'effective_model'] },
  { groups: ['person_id', 'route', 'host'] },
  { groups: ['host'], filter: { ...ANY, accountId: 1n, keyId: 1n } },
  { detail: { kind: 'label', name: 'a' } },
];

async function reportsOf({ usage, directory, jobs, ...store }: Store, ids: readonly bigint[]): Promise<unknown> {
  const months = await directory.closedMonths();
  return {
    usage: await inOrder(GROUPINGS, (more) => usage.report({ ...QUERY, ...more })),
    losses: await usage.hostLosses(QUERY),
    sums: await directory.bookSums(),
    events: await jobs.events(100),
    months,
    roots: await inOrder(months, ({ monthMs }) => rootsOf(directory, monthMs)),
    refunds: await inOrder(ids, (id) => directory.listRefunds(id, null)),
    proofs: await inOrder(ids, (id) => store.proofs.prove(id, 1n)),
    hooks: await inOrder([null, 1n, 2n, 3n], (id) => directory.listWebhooks(id)),
  };
}

/** As text, because one engine reads bytes as a Buffer and the other as a plain array of bytes. */
async function rootsOf(directory: Store['directory'], monthMs: number): Promise<unknown> {
  const accounts = await directory.monthAccounts(monthMs);
  return accounts.map(({ root, ...account }) => ({ ...account, root: Buffer.from(root).toString('hex') }));
}

async function inOrder<Item, Result>(items: readonly Item[], of: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await of(item));
  return results;
}

const IDS = Array.from({ length: 60 }, (_, at) => BigInt(at + 1));

async function walkBoth(steps: readonly (Step | EngineStep)[]): Promise<void> {
  const [sqlite, postgres] = [new EngineWalker(), new EngineWalker()];
  try {
    await sqlite.begin(openSqliteInline);
    await postgres.begin(openPostgres);
    for (const step of steps) {
      expect(await sqlite.takeAny(step)).toEqual(await postgres.takeAny(step));
      const nowMs = sqlite.clock.nowMs();
      const state = await stateOf(sqlite.store, nowMs);
      expect(state).toEqual(await stateOf(postgres.store, nowMs));
      expect(state).toMatchObject({ report: { violations: [] } });
    }
    expect(await reportsOf(sqlite.store, IDS)).toEqual(await reportsOf(postgres.store, IDS));
  } finally {
    await sqlite.end();
    await postgres.end();
  }
}

const anyWalk = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: anyStep.filter(({ step }) => step !== 'atOnce') },
    { weight: 1, arbitrary: anyEngineStep },
  ),
  { minLength: 10, maxLength: 50 },
);
const RUNS = Number(process.env.TOLLGATE_MODEL_RUNS ?? 50);

describe('the SQLite and the PostgreSQL store', () => {
  it('give the same outcomes, reports, proofs and events for the same random steps', async () => {
    const property = fc.asyncProperty(anyWalk, walkBoth);
    await fc.assert(property, { numRuns: Math.ceil(RUNS / 10) });
  }, 600_000);
});
