import { describe, expect, test } from 'vitest';
import { framesOf } from '../../../test/messages-conformity.ts';
import { allRecordings } from '../../../test/messages-recordings.ts';
import { ERROR_TABLE, type ErrorName, GatewayError } from '../../canonical/errors.ts';
import { readError, readInBandError, writeError, writeStreamError } from './errors.ts';

/** The vendor's words where the interface has none of its own. */
const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  403: 'permission_error',
  405: 'invalid_request_error',
  408: 'invalid_request_error',
  409: 'conflict_error',
  413: 'request_too_large',
  415: 'invalid_request_error',
  417: 'invalid_request_error',
  431: 'invalid_request_error',
  500: 'api_error',
  502: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

test.each(Object.keys(ERROR_TABLE) as ErrorName[])(
  '%s has the interface’s type, or the vendor’s where the interface has none',
  (name) => {
    const error = new GatewayError(name, { message: 'Why.', param: 'p' });
    const status = error.status === 503 ? 529 : error.status;
    const { status: written, body } = writeError(error, 'req_1');
    expect(written).toBe(status);
    const envelope = {
      type: 'error',
      error: { type: TYPES[status] ?? ERROR_TABLE[name].type, code: error.code, param: 'p', message: 'Why.' },
      request_id: 'req_1',
    };
    expect(JSON.parse(body)).toEqual(envelope);
    expect(framesOf(writeStreamError(error, 'req_1'))).toEqual([{ event: 'error', data: envelope }]);
  },
);

test.each([
  ['invalid_api_key', 401, 'invalid_request_error', 'invalid_api_key'],
  ['insufficient_allowance', 402, 'insufficient_allowance', 'insufficient_quota'],
  ['cost_ceiling_exceeded', 402, 'cost_ceiling_exceeded', 'cost_ceiling_exceeded'],
  ['key_spend_cap_exceeded', 402, 'key_spend_cap_exceeded', 'key_spend_cap_exceeded'],
  ['model_not_found', 404, 'invalid_request_error', 'model_not_found'],
  ['context_length_exceeded', 400, 'invalid_request_error', 'context_length_exceeded'],
  ['host_context_length_exceeded', 422, 'upstream_error', 'context_length_exceeded'],
  ['provider_key_failed', 422, 'upstream_error', 'provider_key_failed'],
  ['rate_limit_exceeded', 429, 'rate_limit_error', 'rate_limit_exceeded'],
] as const)('%s is %i %s, as on every other wire', (name, status, type, code) => {
  const { status: written, body } = writeError(new GatewayError(name, { message: 'Why.' }), 'req_1');
  expect([written, JSON.parse(body).error]).toEqual([status, { type, code, param: null, message: 'Why.' }]);
});

const refusals = allRecordings().recordings.filter(({ status }) => status !== 200);

describe('hosts’ errors', () => {
  test.each(refusals.map((recording) => [recording.id, recording] as const))('%s', (_id, { status, body, error }) => {
    const { message } = JSON.parse(body.toString()).error;
    expect(readError(status, body)).toEqual({ kind: error!.kind, status, message, code: null, param: null });
  });

  test.each([
    ['<html>Bad gateway</html>', 502, 'unavailable'],
    ['{"message":"Input is too long for requested model."}', 400, 'over_window'],
    ['{"error":"no such thing"}', 400, 'request'],
    ['', 404, 'credentials'],
  ])('%j with %i is %s', (body, status, kind) => {
    expect(readError(status, Buffer.from(body)).kind).toBe(kind);
  });

  test.each([
    ['overloaded_error', 529, 'unavailable'],
    ['rate_limit_error', 429, 'rate'],
    ['invalid_request_error', 400, 'request'],
    ['authentication_error', 401, 'credentials'],
    ['timeout_error', 504, 'unavailable'],
    ['constructor', 500, 'unavailable'],
  ])('%s in a stream stands for %i', (type, status, kind) => {
    expect(readInBandError({ type, message: 'm' })).toMatchObject({ status, kind, message: 'm' });
  });
});
