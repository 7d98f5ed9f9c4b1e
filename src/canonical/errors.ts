interface ErrorRow {
  readonly status: number;
  readonly type: string;
  readonly code: string;
}

const invalid = (status: number, code: string): ErrorRow => ({ status, type: 'invalid_request_error', code });
const upstream = (status: number, code: string): ErrorRow => ({ status, type: 'upstream_error', code });

/** Every error that callers can get. The name is internal; callers see status, type and code. */
export const ERROR_TABLE = {
  invalid_request_body: invalid(400, 'invalid_request_body'),
  invalid_value: invalid(400, 'invalid_value'),
  invalid_header: invalid(400, 'invalid_header'),
  duplicate_key: invalid(400, 'duplicate_key'),
  missing_required_parameter: invalid(400, 'missing_required_parameter'),
  missing_capability: invalid(400, 'missing_capability'),
  wrong_wire: invalid(400, 'wrong_wire'),
  unsupported_feature: invalid(400, 'unsupported_feature'),
  unsupported_parameter: invalid(400, 'unsupported_parameter'),
  context_length_exceeded: invalid(400, 'context_length_exceeded'),
  bad_request: invalid(400, 'bad_request'),
  invalid_api_key: invalid(401, 'invalid_api_key'),
  insufficient_allowance: { status: 402, type: 'insufficient_allowance', code: 'insufficient_quota' },
  cost_ceiling_exceeded: { status: 402, type: 'cost_ceiling_exceeded', code: 'cost_ceiling_exceeded' },
  key_spend_cap_exceeded: { status: 402, type: 'key_spend_cap_exceeded', code: 'key_spend_cap_exceeded' },
  forbidden_host: invalid(403, 'forbidden_host'),
  forbidden_origin: invalid(403, 'forbidden_origin'),
  /** The key is valid, but was not granted what this request needs. */
  permission_denied: invalid(403, 'permission_denied'),
  /** The account takes no new calls: it is suspended, or closed for good. */
  account_suspended: invalid(403, 'account_suspended'),
  model_not_found: invalid(404, 'model_not_found'),
  unsupported_route: invalid(404, 'unsupported_route'),
  unknown_url: invalid(404, 'unknown_url'),
  receipt_not_found: invalid(404, 'receipt_not_found'),
  /** The call runs, so that its receipt may still change and is not signed. */
  receipt_not_settled: invalid(409, 'receipt_not_settled'),
  /** The receipt has no proof: it is not closed yet, or was archived. */
  proof_unavailable: invalid(409, 'proof_unavailable'),
  provider_key_not_found: invalid(404, 'provider_key_not_found'),
  webhook_not_found: invalid(404, 'webhook_not_found'),
  job_not_found: invalid(404, 'job_not_found'),
  job_group_not_found: invalid(404, 'job_group_not_found'),
  job_not_finished: invalid(409, 'job_not_finished'),
  /** The job ended without a response: it was cancelled, or expired before it ran. */
  job_has_no_result: invalid(409, 'job_has_no_result'),
  result_expired: invalid(410, 'result_expired'),
  /** The idempotency key is already used: wait for the other request, read its receipt, or use a new key. */
  idempotency_in_progress: invalid(409, 'idempotency_in_progress'),
  idempotency_finished: invalid(409, 'idempotency_finished'),
  idempotency_outcome_unknown: invalid(409, 'idempotency_outcome_unknown'),
  idempotency_mismatch: invalid(422, 'idempotency_mismatch'),
  method_not_allowed: invalid(405, 'method_not_allowed'),
  request_timeout: invalid(408, 'request_timeout'),
  request_too_large: invalid(413, 'request_too_large'),
  unsupported_media_type: invalid(415, 'unsupported_media_type'),
  expectation_failed: invalid(417, 'expectation_failed'),
  request_head_too_large: invalid(431, 'request_head_too_large'),
  host_context_length_exceeded: upstream(422, 'context_length_exceeded'),
  /** The caller's stored provider key cannot be used: the provider refused it or is unreachable, or it cannot be decrypted. */
  provider_key_failed: upstream(422, 'provider_key_failed'),
  /** The host refused the request; its message and code are put into our envelope. */
  host_refused_request: upstream(400, 'host_refused_request'),
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  /** Too many jobs of the account wait, or they store too much. */
  job_limit_exceeded: { status: 429, type: 'rate_limit_error', code: 'job_limit_exceeded' },
  /** The gateway cannot decrypt its signing key, or the receipt is not what it was when it was closed. */
  receipt_not_signed: { status: 500, type: 'api_error', code: 'receipt_not_signed' },
  internal_error: { status: 500, type: 'api_error', code: 'internal_error' },
  host_failed: upstream(502, 'host_failed'),
  /** The gateway stopped while a host may have been working on the job. */
  job_outcome_unknown: upstream(502, 'job_outcome_unknown'),
  no_healthy_host: upstream(503, 'no_healthy_host'),
  overloaded: upstream(503, 'overloaded'),
  store_unavailable: upstream(503, 'store_unavailable'),
  shutting_down: upstream(503, 'shutting_down'),
  host_timeout: upstream(504, 'host_timeout'),
} as const satisfies Record<string, ErrorRow>;

export type ErrorName = keyof typeof ERROR_TABLE;

interface ErrorDetail {
  readonly message: string;
  readonly param?: string | null;
  /** Replaces the code of the table, for a code that the host sent. */
  readonly code?: string;
  /** Seconds after which a retry makes sense. */
  readonly retryAfterS?: number;
  /** The status and body of a caller's own provider, whose errors are passed on as they are. */
  readonly status?: number;
  readonly body?: string;
  readonly amounts?: RefusedAmounts;
}

/** What a call that was refused for money could have cost, and what was available for it. */
interface RefusedAmounts {
  readonly worstNanousd: bigint;
  readonly availableNanousd: bigint | null;
  /** Whose spend cap refused it, if one did: both have the same error code. */
  readonly cap?: CapOwner;
}

export type CapOwner = 'key' | 'person';

const RETRYABLE_4XX = new Set([408, 409, 429]);
/** Not to be retried in spite of their status: the result would be the same, or the work would be paid for twice. */
const FINAL: ReadonlySet<ErrorName> = new Set([
  'host_timeout',
  'idempotency_finished',
  'idempotency_outcome_unknown',
  'job_has_no_result',
  'job_outcome_unknown',
  'proof_unavailable',
  'receipt_not_signed',
]);

/** The only error that is sent to callers: a row of the table, a message with the remedy, and the field at fault. */
export class GatewayError extends Error {
  readonly kind: ErrorName;
  readonly status: number;
  readonly type: string;
  readonly code: string;
  readonly param: string | null;
  readonly retryAfterS: number | null;
  /** Sent instead of our envelope. */
  readonly body: string | null;
  readonly amounts: RefusedAmounts | null;

  constructor(kind: ErrorName, detail: ErrorDetail) {
    super(detail.message);
    const row = ERROR_TABLE[kind];
    this.name = 'GatewayError';
    this.kind = kind;
    this.status = detail.status ?? row.status;
    this.type = row.type;
    this.code = detail.code ?? row.code;
    this.param = detail.param ?? null;
    this.retryAfterS = detail.retryAfterS ?? null;
    this.body = detail.body ?? null;
    this.amounts = detail.amounts ?? null;
  }

  /** The same error with another message, field or time to wait. */
  with(changed: Pick<ErrorDetail, 'param' | 'retryAfterS'> & { readonly message?: string }): GatewayError {
    const { kind, message, code, param, retryAfterS, status, body, amounts } = this;
    return new GatewayError(kind, {
      message,
      code,
      param,
      status,
      ...(retryAfterS !== null && { retryAfterS }),
      ...(body !== null && { body }),
      ...(amounts !== null && { amounts }),
      ...changed,
    });
  }

  /** The code of the table, even if the host sent another: that one is the host's text, which may quote the prompt. */
  get ownCode(): string {
    return ERROR_TABLE[this.kind].code;
  }

  /** Both official SDKs obey this. Retrying a refused request, or one that may have been charged, only costs money. */
  get mustNotRetry(): boolean {
    return (this.status < 500 && !RETRYABLE_4XX.has(this.status)) || FINAL.has(this.kind);
  }
}

/** The error body of every wire except messages; it always has all four keys. */
export function errorEnvelope(error: GatewayError): { error: Record<string, string | null> } {
  return { error: { message: error.message, type: error.type, code: error.code, param: error.param } };
}
