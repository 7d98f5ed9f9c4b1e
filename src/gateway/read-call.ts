import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../canonical/errors.ts';
import { type CheckedJson, checkJson, JsonError, type JsonText, type JsonWork, scanJson } from '../json/json.ts';
import { LIMITS } from '../limits.ts';
import { parseNanousd } from '../money/nanousd.ts';
import type { Call } from './call.ts';
import type { BodyBudgets } from './guards/body-budgets.ts';

const BODY_LIMITS = {
  depthMax: LIMITS.jsonDepthMax,
  nodesMax: LIMITS.jsonNodesMax,
  keysMax: LIMITS.jsonKeysMax,
  objectKeysMax: LIMITS.jsonObjectKeysMax,
  numberDigitsMax: LIMITS.jsonNumberDigitsMax,
  keyBytesMax: LIMITS.jsonKeyBytesMax,
};

interface Budgeted {
  readonly bodyBudgets: BodyBudgets;
}

export function readCallBody(gateway: Budgeted, call: Call): JsonText {
  return parseCallBody(checkCallBody(gateway, call), call);
}

/** Checks the body of a call within what its key may spend on JSON. A body that is refused is charged to that budget too. */
export function checkCallBody({ bodyBudgets }: Budgeted, { caller, body }: Call): CheckedJson {
  const { keyId } = caller;
  const work: JsonWork = { max: bodyBudgets.membersLeft(caller), used: 0 };
  try {
    return checkJson(body, BODY_LIMITS, work);
  } catch (error) {
    if (!(error instanceof JsonError) || error.code !== 'too_much_work' || keyId === null) throw refusalOf(error);
    throw bodyBudgets.tooManyMembers({ ...caller, keyId }, work.used);
  } finally {
    bodyBudgets.spendMembers(caller, work.used);
  }
}

export function parseCallBody(checked: CheckedJson, { pathModel }: Call): JsonText {
  let text: JsonText;
  try {
    text = checked.parse();
  } catch (error) {
    throw refusalOf(error);
  }
  return pathModel == null ? text : withPathModel(text, pathModel);
}

/** The model that a body names, before it is parsed; null if it names none, or if finding it takes a parser. */
export function peekModelName(checked: CheckedJson, { pathModel }: Call): string | null {
  return (pathModel == null && checked.plainString('model', LIMITS.modelIdCharsMax)) || null;
}

/** A body without a model gets that of its path; two different names are refused, since only one of them can run. */
function withPathModel(text: JsonText, escaped: string): JsonText {
  const { value } = text;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return text;
  const inPath = unescapeModel(escaped);
  const { model } = value as { model?: unknown };
  if (model === inPath) return text;
  if (model === undefined || model === null || model === '') {
    return readBody(text.edit().set(['model'], JSON.stringify(inPath)).apply());
  }
  throw new GatewayError('invalid_value', {
    param: 'model',
    message: '`model` differs from the model in the path. Send the same name in both, or leave it out of the body.',
  });
}

function unescapeModel(escaped: string): string {
  try {
    return decodeURIComponent(escaped);
  } catch {
    throw new GatewayError('bad_request', { message: 'The path has an invalid percent escape.' });
  }
}

/** Refuses a body that two parsers could read differently: one model could be priced and another run. */
export function readBody(body: Buffer): JsonText {
  try {
    return scanJson(body, BODY_LIMITS);
  } catch (error) {
    throw refusalOf(error);
  }
}

function refusalOf(error: unknown): unknown {
  if (!(error instanceof JsonError)) return error;
  const kind = error.code === 'duplicate_key' ? 'duplicate_key' : 'invalid_request_body';
  return new GatewayError(kind, { message: error.message, param: error.path === '' ? null : error.path });
}

/** The model that a body names, for the headers of a refusal. The wire validates it later. */
export function readModelName({ value }: JsonText): string | null {
  const model = typeof value === 'object' && value !== null && 'model' in value ? value.model : null;
  return typeof model === 'string' && model.length <= LIMITS.modelIdCharsMax ? model : null;
}

export const CEILING_HEADER = 'x-gateway-max-cost-nanousd';

export function readCeiling(headers: IncomingHttpHeaders): bigint | null {
  const value = headers[CEILING_HEADER];
  if (value === undefined) return null;
  const ceilingNanousd = typeof value === 'string' ? parseNanousd(value) : null;
  if (ceilingNanousd !== null) return ceilingNanousd;
  throw new GatewayError('invalid_header', {
    param: CEILING_HEADER,
    message: `\`${CEILING_HEADER}\` must be a whole number of nanodollars, like 5000000 for half a cent.`,
  });
}
