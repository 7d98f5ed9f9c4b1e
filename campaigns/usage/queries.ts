import { USAGE_DIMENSIONS, type UsageDimension } from '../../src/store/usage-dimensions.ts';
import { USAGE_BUCKETS, type UsageFilter, type UsageQuery } from '../../src/store/usage-report.ts';
import type { Random } from '../../test/random.ts';
import type { ReceiptTerms } from './receipts.ts';
import type { World } from './world.ts';

const HOUR_MS = 3_600_000;
const NO_FILTER: UsageFilter = { accountId: null, keyId: null, personId: null, model: null, route: null, host: null };

/** A report of any kind: bucket, groups, filter, and a period that begins and ends at full hours. */
export function anyQuery(world: World, random: Random, { sinceMs, untilMs }: ReceiptTerms): UsageQuery {
  const hours = (untilMs - sinceMs) / HOUR_MS;
  const bucket = random.pick(USAGE_BUCKETS);
  // By hour only a few days, or a report would have more rows than it may.
  const length = bucket === 'hour' ? random.between(1, 72) : random.between(1, Math.floor(hours));
  const first = random.below(Math.floor(hours - length) + 1);
  const detail = random.chance(0.15)
    ? random.pick([{ kind: 'chain' } as const, { kind: 'label', name: random.pick(['team', 'other']) } as const])
    : null;
  return {
    sinceMs: sinceMs + first * HOUR_MS,
    untilMs: sinceMs + (first + (detail === null ? length : Math.min(length, 200))) * HOUR_MS,
    bucket,
    groups: someGroups(random),
    detail,
    filter: random.chance(0.5) ? NO_FILTER : anyFilter(world, random),
    times: random.chance(0.5),
  };
}

function someGroups(random: Random): UsageDimension[] {
  const left = [...USAGE_DIMENSIONS];
  return Array.from({ length: random.below(3) }, () => left.splice(random.below(left.length), 1)[0]!);
}

function anyFilter(world: World, random: Random): UsageFilter {
  const key = random.pick(world.keys);
  const one: Partial<UsageFilter> = random.pick([
    { accountId: world.accounts[key.account]! },
    { accountId: world.accounts[key.account]!, keyId: key.id },
    { personId: random.pick(world.people) },
    { model: random.pick(world.models) },
    { route: random.pick(world.routes) },
    { host: random.pick(world.hosts), model: random.pick(world.models) },
    { model: 'unknown' },
  ]);
  return { ...NO_FILTER, ...one };
}
