import type { Caller } from '../accounts/authenticate.ts';
import { missingPermission } from '../accounts/permissions.ts';
import { GatewayError } from '../canonical/errors.ts';
import { LIMITS } from '../limits.ts';
import {
  InvalidUsageQuery,
  splitWords,
  UsageBusy,
  type UsageRowView,
  type UsageServices,
  usageReport,
} from '../operator/usage.ts';
import { invalid } from './field-errors.ts';
import { readQuery, readText, readTime } from './query-parameters.ts';

const PARAMETERS = ['since', 'until', 'bucket', 'group_by', 'metrics', 'model', 'route'];
/** What callers may group by. Hosts are the operator's business, and a key belongs to one account and one person. */
const GROUPS = new RegExp(`^(?:|key|model|route|chain|label:.{1,${LIMITS.labelCharactersMax}})$`, 's');

/** What the caller's key has used, or what its account has used if the key may read that. */
export async function reportUsage(
  services: UsageServices,
  caller: Caller,
  query: string,
): Promise<{ readonly data: readonly object[] }> {
  const given = readQuery(query, PARAMETERS);
  const groupBy = readText(given, 'group_by', LIMITS.usageWordsCharsMax) ?? '';
  if (!splitWords(groupBy).every((word) => GROUPS.test(word)))
    throw invalid('group_by', 'must be a list of key, model, route, and chain or label:<name>');
  try {
    const { data, ...report } = await usageReport(services, {
      sinceMs: readTime(given, 'since'),
      untilMs: readTime(given, 'until'),
      bucket: readText(given, 'bucket', LIMITS.usageWordsCharsMax) ?? 'none',
      groupBy,
      metrics: readText(given, 'metrics', LIMITS.usageWordsCharsMax),
      filter: {
        accountId: caller.accountId,
        keyId: missingPermission(caller, 'account_read') === null ? null : caller.keyId,
        personId: null,
        model: readText(given, 'model', LIMITS.modelIdCharsMax),
        route: readText(given, 'route', LIMITS.nameCharsMax),
        host: null,
      },
    });
    return { ...report, data: data.map(forCallers) };
  } catch (error) {
    if (error instanceof UsageBusy)
      throw new GatewayError('rate_limit_exceeded', { message: error.message, retryAfterS: 1 });
    throw error instanceof InvalidUsageQuery ? invalid(error.param, error.must) : error;
  }
}

/** Callers cannot group by the owner of a key or by the host that served a call. */
function forCallers(row: UsageRowView): object {
  const { host: _host, account: _account, account_name: _name, person: _person, person_email: _email, ...rest } = row;
  return rest;
}
