import { describe, expect, test } from 'vitest';
import { framesOf } from '../../../test/messages-conformity.ts';
import { allRecordings } from '../../../test/messages-recordings.ts';
import { ERROR_TABLE, type ErrorName, GatewayError } from '../../canonical/errors.ts';
import { readError, readInBandError, writeError, writeStreamError } from './errors.ts';

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  408: 'invalid_request_error',
  409: 'conflict_error',
  413: 'request_too_large',
  415: 'invalid_request_error',
  417: 'invalid_request_error',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
  431: 'invalid_request_error',
  500: 'api_error',
  502: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

test.each(Object.keys(ERROR_TABLE) as ErrorName[])('%s is written in the vendor’s words, with our code', (name) => {
  const error = new GatewayError(name, { message: 'Why.', param: 'p' });
  const status = error.status === 503 ? 529 : error.status;
  const { status: written, body } = writeError(error, 'req_1');
  expect(written).toBe(status);
  const envelope = {
    type: 'error',
    error: { type: TYPES[status], code: error.code, param: 'p', message: 'Why.' },
    request_id: 'req_1',
  };
  expect(JSON.parse(body)).toEqual(envelope);
  expect(framesOf(writeStreamError(error, 'req_1'))).toEqual([{ event: 'error', data: envelope }]);
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
