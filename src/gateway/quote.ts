import { type BalanceView, balanceView } from '../canonical/balance-view.ts';
import { GatewayError } from '../canonical/errors.ts';
import { unknownName } from '../canonical/unknown-name.ts';
import type { JsonText } from '../json/json.ts';
import { stringifyJson } from '../json/stringify.ts';
import type { Balance } from '../ledger/ledger.ts';
import { likelyCost } from '../money/likely-cost.ts';
import { isAmount } from '../store/int64.ts';
import type { Peek } from '../wires/peek.ts';
import type { Wire } from '../wires/wire.ts';
import type { Admission } from './admit.ts';
import type { Call } from './call.ts';
import type { ClientSink } from './client-sink.ts';
import { type ExchangeRecord, openRecord } from './exchange-record.ts';
import type { Gateway } from './gateway.ts';
import { hangupFacts, isUsedUp } from './hangup-facts.ts';
import { inactiveAccount, refusalOfHold } from './hold-refusal.ts';
import { readCallBody } from './read-call.ts';
import { adjustedLines, FREE_LINES } from './receipt-headers.ts';
import { identityLines, refuse } from './refuse.ts';
import { type Admitted, admittedByCount, understand } from './understand.ts';

/** A billed route, with the model that its path names, if it does. */
export interface QuotableRoute {
  readonly route: string;
  readonly wire: Wire;
  readonly pathModel?: string;
}

export interface QuotableRoutes {
  /** The billed routes, for errors. */
  readonly names: readonly string[];
  /** Takes a path in any form that callers may send. */
  find(path: string): QuotableRoute | null;
}

/**
 * Says what a call could cost at most and whether the money is available. It runs the same checks as the call, with
 * the same errors, but takes no hold.
 */
export async function quote(gateway: Gateway, call: Call, sink: ClientSink, routes: QuotableRoutes): Promise<void> {
  const record = openRecord(call);
  let asked = call;
  try {
    asked = callToQuote(call, readCallBody(gateway, call), routes);
    const admitted = await understand(gateway, asked, record);
    const lines = adjustedLines(admitted.hostCalls[0]?.adjusted ?? null);
    sendQuote(await lowestQuote(gateway, admitted), lines, call, record, sink);
  } catch (error) {
    refuse(asked, record, sink, error);
  }
  record.totalMs = gateway.clock.monotonicMs() - call.startedMs;
  gateway.observe(record);
}

/** Counts the tokens in any case, to show the counted bound. It is what the call holds if the bound by bytes does not fit. */
async function lowestQuote(gateway: Gateway, admitted: Admitted): Promise<Quote> {
  const balance = await readBalance(gateway, admitted);
  const byBytes = admitted.admission.counted?.byBytes ?? null;
  const counted = byBytes === null ? await admittedByCount(gateway, admitted) : admitted;
  if (isUsedUp(hangupFacts(gateway, balance.account))) {
    return quoteOf(balance, byBytes === null ? admitted : { ...admitted, admission: byBytes }, counted);
  }
  const answer = quoteOf(balance, admitted, counted);
  return counted !== null && byBytes === null && exceedsMoney(answer) ? quoteOf(balance, counted, counted) : answer;
}

/** Throws if the account may make no calls. */
async function readBalance({ ledger }: Gateway, { call, admission, peek }: Admitted): Promise<Balance> {
  const { accountId, key } = call.caller;
  const balance = await ledger.balance(accountId, key);
  if (balance === null) throw refusalOfHold({ reason: 'no_account', availableNanousd: null }, admission, peek);
  const { status } = balance.account;
  if (status !== 'active') throw inactiveAccount(`account_${status}`);
  return balance;
}

const MEMBERS = ['path', 'body'];

/** The call to quote. Its body is kept byte for byte, because the bounds depend on its bytes. */
function callToQuote(call: Call, text: JsonText, routes: QuotableRoutes): Call {
  const value = typeof text.value === 'object' && text.value !== null ? (text.value as Record<string, unknown>) : {};
  const unknown = Object.keys(value).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) {
    throw unknownName(unknown, 'A quote takes `path` and `body`.');
  }
  for (const param of MEMBERS) {
    if (value[param] !== undefined) continue;
    throw new GatewayError('missing_required_parameter', {
      param,
      message: 'A quote needs `path`, the route that the call would go to, and `body`, the body of that call.',
    });
  }
  const target = typeof value.path === 'string' ? routes.find(value.path.split('?', 1)[0]!) : null;
  if (target === null) {
    throw new GatewayError('invalid_value', {
      param: 'path',
      message: `\`path\` must be one of the billed routes: ${routes.names.join(', ')}.`,
    });
  }
  const { start, end } = text.locate(['body'])!;
  return { ...call, ...target, body: call.body.subarray(start, end) };
}

interface Quote {
  readonly object: 'quote';
  readonly model: string;
  readonly worst_case_nanousd: bigint;
  readonly components: { readonly input: bigint; readonly output: bigint };
  /** The hold with the prompt bounded by its bytes, and by its counted tokens; null if they cannot be counted. */
  readonly bounds: { readonly bytes_nanousd: bigint; readonly counted_nanousd: bigint | null };
  readonly likely_nanousd: bigint;
  readonly fits: { readonly ceiling: boolean; readonly cap: boolean; readonly balance: boolean };
}

function quoteOf(balance: Balance, admitted: Admitted, counted: Admitted | null): Quote {
  const { call, peek, admission, ceilingNanousd } = admitted;
  const { model, worstNanousd, inputNanousd } = admission;
  if (!isAmount(worstNanousd)) {
    throw refusalOfHold({ reason: 'out_of_range', availableNanousd: null }, admission, peek);
  }
  return {
    object: 'quote',
    model: model.id,
    worst_case_nanousd: worstNanousd,
    components: { input: inputNanousd, output: worstNanousd - inputNanousd },
    bounds: {
      bytes_nanousd: (admission.counted?.byBytes ?? admission).worstNanousd,
      counted_nanousd: counted?.admission.worstNanousd ?? null,
    },
    likely_nanousd: likelyOf(admission, peek, counted),
    fits: {
      ceiling: ceilingNanousd === null || worstNanousd <= ceilingNanousd,
      ...fitsMoney(balanceView(balance, call.caller.key), worstNanousd),
    },
  };
}

function likelyOf(admission: Admission, { size }: Peek, counted: Admitted | null): bigint {
  const { model, inputBound, outputBound, answers } = admission;
  const promptTokens = counted?.admission.counted?.prompt.likelyTokens ?? null;
  return likelyCost({ price: model.price, size, promptTokens, inputBound, outputBound, answers });
}

function fitsMoney({ unlimited, available_nanousd, key, person }: BalanceView, worstNanousd: bigint) {
  const caps = [key?.remaining_nanousd, person?.remaining_nanousd];
  return {
    cap: caps.every((remaining) => remaining == null || worstNanousd <= remaining),
    balance: unlimited || worstNanousd <= available_nanousd,
  };
}

function exceedsMoney({ fits }: Quote): boolean {
  return !(fits.ceiling && fits.cap && fits.balance);
}

function sendQuote(answer: Quote, lines: string, call: Call, record: ExchangeRecord, sink: ClientSink): void {
  record.status = 200;
  record.ended = 'complete';
  if (sink.gone) return;
  const body = Buffer.from(stringifyJson(answer));
  const identity = identityLines(call.requestId, record.requestedModel, record.effectiveModel);
  sink.head(200, `${identity}${lines}${FREE_LINES}content-type: application/json; charset=utf-8\r\n`, body.length);
  sink.end(body);
}
