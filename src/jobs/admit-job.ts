import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../canonical/errors.ts';
import type { Call } from '../gateway/call.ts';
import { CHAIN_HEADER, FIRST_MODEL_HEADER } from '../gateway/chain.ts';
import { openRecord } from '../gateway/exchange-record.ts';
import { isForeignHeader } from '../gateway/foreign-headers.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { IDEMPOTENCY_HEADER } from '../gateway/idempotency.ts';
import { allowsAdjusting, ON_UNSUPPORTED_HEADER } from '../gateway/on-unsupported.ts';
import { CEILING_HEADER } from '../gateway/read-call.ts';
import { type Admitted, understand } from '../gateway/understand.ts';
import { stringifyJson } from '../json/stringify.ts';
import { LIMITS } from '../limits.ts';
import type { JobContent, NewJob } from '../store/jobs.ts';
import type { Wire } from '../wires/wire.ts';
import type { JobRequest, JobTerms, Submission } from './jobs.ts';
import { streamedJob } from './refusals.ts';

/** The billed routes by path. */
export type Endpoints = ReadonlyMap<string, Wire>;

/** What the call of a job needs from its submission, besides the body. It is stored with the job. */
export interface CallFacts {
  readonly headers: Readonly<Record<string, string>>;
  /** The model was the caller's own deployment, which no price list has. */
  readonly isDeployment: boolean;
}

/** Makes every check of a call that is made now, and computes its worst case. Nothing is reserved yet. */
export async function admitJob(
  gateway: Gateway,
  endpoints: Endpoints,
  submission: Submission,
  { endpoint, body }: JobRequest,
): Promise<Admitted> {
  const wire = endpoints.get(endpoint);
  if (wire === undefined) {
    const known = [...endpoints.keys()].join(', ');
    throw new GatewayError('invalid_value', { param: 'endpoint', message: `\`endpoint\` must be one of ${known}.` });
  }
  const call: Call = { ...submission, route: endpoint, wire, body };
  let admitted: Admitted;
  try {
    admitted = await understand(gateway, call, openRecord(call));
  } catch (error) {
    throw withinBody(error);
  }
  if (!admitted.peek.stream) return admitted;
  throw streamedJob();
}

/** Names a field of the call's body by its place in the submission. */
export function withinBody(error: unknown): unknown {
  if (!(error instanceof GatewayError) || error.param === null || namesHeader(error)) return error;
  return error.with({ param: `body.${error.param}` });
}

function namesHeader({ kind, param }: GatewayError): boolean {
  if (kind === 'invalid_header' || param === CEILING_HEADER || param === IDEMPOTENCY_HEADER) return true;
  return param !== null && isForeignHeader(param);
}

/** What decides about a job besides its call. */
interface JobPlace {
  readonly id: bigint;
  readonly groupId: bigint | null;
  readonly line: number;
  readonly nowMs: number;
}

/** The row of a job that was admitted, with an amount that may have been counted since. */
export function newJob(
  { call, admission, prices, record, peek }: Admitted,
  { customId }: JobRequest,
  terms: JobTerms,
  { id, groupId, line, nowMs }: JobPlace,
  request: JobContent,
): NewJob {
  const { caller } = call;
  const facts: CallFacts = { headers: keptHeaders(call), isDeployment: record.deploymentOf !== null };
  return {
    id,
    accountId: caller.accountId,
    keyId: caller.keyId,
    personId: caller.key?.personId ?? null,
    groupId,
    line,
    customId,
    endpoint: call.route,
    requestedModel: record.requestedModel ?? peek.model,
    effectiveModel: admission.model.id,
    createdMs: nowMs,
    notBeforeMs: terms.notBeforeMs,
    expiresMs: latestStartMs(terms, nowMs),
    resultTtlMs: Math.min(terms.resultTtlMs ?? LIMITS.jobResultMs, LIMITS.jobResultMaxMs),
    onUnknown: terms.onUnknown,
    webhook: terms.webhook,
    metadataJson: terms.metadata === null ? null : stringifyJson(terms.metadata),
    headersJson: stringifyJson(facts),
    priceVersion: prices.catalog.priceVersion,
    reservedNanousd: admission.worstNanousd,
    request,
  };
}

/** A job without an expiry of its own expires the usual time after it may start. */
function latestStartMs({ expiresMs, notBeforeMs }: JobTerms, nowMs: number): number {
  if (expiresMs === null) return Math.max(nowMs, notBeforeMs ?? 0) + LIMITS.jobExpiryMs;
  return Math.min(expiresMs, nowMs + LIMITS.jobExpiryMaxMs);
}

const KEPT_HEADERS = [CHAIN_HEADER, FIRST_MODEL_HEADER];

/** Headers that change what the host is sent. The key's default is written out, because it may change before the call is made. */
function keptHeaders(call: Call): Record<string, string> {
  const kept: Record<string, string> = { [ON_UNSUPPORTED_HEADER]: allowsAdjusting(call) ? 'drop' : 'refuse' };
  for (const name of [...KEPT_HEADERS, ...(call.wire.client.readsHeaders ?? [])]) {
    const value = call.headers[name];
    if (typeof value === 'string') kept[name] = value;
  }
  return kept;
}

/** Without the headers that concern the submission and not its call. */
export function withoutHeaders(headers: IncomingHttpHeaders, names: readonly string[]): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}
