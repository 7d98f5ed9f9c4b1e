import { GROUP_PREFIX, JOB_PREFIX } from '../../canonical/id-prefixes.ts';
import type { Clock } from '../../kit/clock.ts';
import { parseId } from '../../kit/ids.ts';
import { LIMITS } from '../../limits.ts';
import { INT64_MAX } from '../../money/nanousd.ts';
import { JOB_STATUSES } from '../../operator/job-view.ts';
import type { Options } from '../command.ts';
import { usageFailure } from '../failure.ts';
import { readPage } from '../paging.ts';
import { readChoice, readMoment, readNanousd } from '../text-values.ts';

/** Options of `jobs list` as a query. They are checked here, so that a wrong one is a usage error whatever the gateway would say. */
export function readListQuery(options: Options): URLSearchParams {
  const { groups, group, status } = options;
  if (groups === true && (group !== undefined || status !== undefined))
    throw usageFailure('--group and --status choose among jobs. Leave them out with --groups.');
  const { limit, after } = readPage(options);
  const query = new URLSearchParams({ limit: String(limit) });
  if (after !== null) query.set('after', readJobId(after, '--after', groups === true ? GROUP_PREFIX : JOB_PREFIX));
  if (typeof group === 'string') query.set('group', readJobId(group, '--group', GROUP_PREFIX));
  if (typeof status === 'string') query.set('status', readChoice(status, '--status', JOB_STATUSES));
  return query;
}

/** The terms of a group as a query. */
export function readTermsQuery(options: Options, clock: Clock): URLSearchParams {
  const query = new URLSearchParams();
  const notBefore = readStart(options.notBefore, '--not-before', clock);
  const expiresAt = readStart(options.expiresAt, '--expires-at', clock);
  if (expiresAt !== null && expiresAt <= clock.nowMs())
    throw usageFailure(`--expires-at must be in the future, not "${options.expiresAt}".`);
  if (notBefore !== null && expiresAt !== null && notBefore >= expiresAt)
    throw usageFailure('--not-before must be earlier than --expires-at.');
  if (notBefore !== null) query.set('not_before', new Date(notBefore).toISOString());
  if (expiresAt !== null) query.set('expires_at', new Date(expiresAt).toISOString());
  if (typeof options.webhook === 'string') query.set('webhook', options.webhook);
  return query;
}

/** The most that a group may cost in all, in nanodollars. */
export function readCeiling({ maxCostNanousd: typed }: Options): string | null {
  if (typeof typed !== 'string') return null;
  const nanousd = readNanousd(typed, '--max-cost-nanousd');
  if (BigInt(nanousd) >= 0n && BigInt(nanousd) <= INT64_MAX) return nanousd;
  throw usageFailure(`--max-cost-nanousd must be from 0 to ${INT64_MAX}, not "${typed}".`);
}

function readStart(typed: string | boolean | undefined, flag: string, clock: Clock): number | null {
  if (typeof typed !== 'string') return null;
  const ms = readMoment(typed, flag, clock, 'ahead') * 1000;
  if (ms <= clock.nowMs() + LIMITS.jobExpiryMaxMs) return ms;
  throw usageFailure(`${flag} must be within ${LIMITS.jobExpiryMaxMs / 86_400_000} days, not "${typed}".`);
}

function readJobId(typed: string, flag: string, prefix: string): string {
  if (parseId(prefix, typed) !== null) return typed;
  throw usageFailure(`${flag} must be an id like ${prefix}…, not "${typed}".`, 'tollgate jobs list');
}
