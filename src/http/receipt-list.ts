import type { Caller } from '../accounts/authenticate.ts';
import { missingPermission } from '../accounts/permissions.ts';
import { GatewayError } from '../canonical/errors.ts';
import { receiptView } from '../canonical/receipt-view.ts';
import { formatId, parseId } from '../kit/ids.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { LIMITS } from '../limits.ts';

const PARAMETERS = ['since', 'until', 'model', 'chain', 'after', 'limit'];
const LIMIT_DEFAULT = 100;

/** A page of the caller's receipts, newest first: those of its key, or of the account if it may read that. */
export async function listReceipts(
  ledger: Pick<Ledger, 'listAccountReceipts' | 'refundsOf'>,
  caller: Caller,
  query: string,
): Promise<object> {
  const given = readQuery(query);
  const filter = {
    accountId: caller.accountId,
    keyId: missingPermission(caller, 'account_read') === null ? null : caller.keyId,
    sinceMs: readTime(given, 'since'),
    untilMs: readTime(given, 'until'),
    model: readText(given, 'model', LIMITS.modelIdCharsMax),
    chain: readText(given, 'chain', LIMITS.chainIdCharsMax),
  };
  const page = { limit: readLimit(given), after: readAfter(given), examineMax: LIMITS.receiptsExaminedMax };
  const { receipts, next } = await ledger.listAccountReceipts(filter, page);
  const refunds = await ledger.refundsOf(receipts.map(({ id }) => id));
  return {
    object: 'list',
    data: receipts.map((receipt) => receiptView(receipt, refunds.get(receipt.id))),
    has_more: next !== null,
    next: next === null ? null : formatId('req_', next),
  };
}

/** Refuses unknown parameters: a misspelled filter would return what it should have left out. */
function readQuery(query: string): Map<string, string> {
  const given = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (!PARAMETERS.includes(name)) {
      const param = /^[\w-]{1,64}$/.test(name) ? name : null;
      const message = `${param === null ? 'A query parameter' : `\`${param}\``} is unknown. Use ${PARAMETERS.join(', ')}.`;
      throw new GatewayError('unsupported_parameter', { param, message });
    }
    if (given.has(name)) throw invalid(name, 'must be sent once');
    given.set(name, value);
  }
  return given;
}

function invalid(param: string, must: string): GatewayError {
  return new GatewayError('invalid_value', { param, message: `\`${param}\` ${must}.` });
}

const UNIX_SECONDS = /^\d{1,11}$/;
const RFC_3339 = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d))?$/i;

function readTime(given: ReadonlyMap<string, string>, param: string): number | null {
  const text = given.get(param);
  if (text === undefined) return null;
  if (UNIX_SECONDS.test(text)) return Number(text) * 1000;
  // A plus sign in a query means a space.
  const time = text.replace(/ (?=\d\d:\d\d$)/, '+');
  const ms = RFC_3339.test(time) ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(ms))
    throw invalid(param, 'must be a time in Unix seconds, or as 2027-01-31 or 2027-01-31T12:00:00Z');
  return ms;
}

function readText(given: ReadonlyMap<string, string>, param: string, charsMax: number): string | null {
  const text = given.get(param) ?? null;
  if (text !== null && (text === '' || text.length > charsMax))
    throw invalid(param, `must have 1 to ${charsMax} characters`);
  return text;
}

function readLimit(given: ReadonlyMap<string, string>): number {
  const text = given.get('limit') ?? String(LIMIT_DEFAULT);
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > LIMITS.storePageRowsMax) {
    throw invalid('limit', `must be a whole number from 1 to ${LIMITS.storePageRowsMax}`);
  }
  return limit;
}

function readAfter(given: ReadonlyMap<string, string>): bigint | null {
  const text = given.get('after');
  if (text === undefined) return null;
  const id = parseId('req_', text);
  if (id === null) throw invalid('after', 'must be the `next` of the page before, or the id of a receipt');
  return id;
}
