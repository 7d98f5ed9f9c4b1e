import { endlessBody } from '../../endless.ts';
import { type Fields, isAbsent, isFields } from '../../fields.ts';
import { jsonReply, type Refusal, RefusedRequest, type Reply, type SimHost, type SimWire } from '../../reply.ts';
import type { SimScript, UsageFault } from '../../script.ts';
import { countWriter, isWithheld } from '../../usage-fault.ts';
import { type Ask, countInput, countOutput, decide, isOverWindow, type Question, versionOf } from './decided.ts';

/** The typed-decision wire in its public contract. */
export const systemOneWire: SimWire = {
  path: '/v1/systemone',
  answer: answerSystemOne,
  refuse: refuseDetailed,
  fail: usualError,
};

const CHOICES_MAX = 255;
const LEVELS_MAX = 10;

function answerSystemOne(body: Fields, script: SimScript, host: SimHost): Reply {
  const ask = readAsk(body);
  if (isOverWindow(ask)) {
    throw new RefusedRequest({ status: 400, message: '', type: 'max_tokens_exceeded', code: null, param: null });
  }
  const headers = { 'x-typesafe-request-id': host.mintId('req_') };
  if (script.endless) return { ...jsonReply(200, '', headers), chunks: endlessBody('{"answers":{"', 'and so on ') };
  const usage = writeUsage(ask, script.usage);
  if (script.errorAfterChunks === undefined) {
    return jsonReply(200, writeAnswers(ask, isWithheld(script.usage) ? '' : `,"usage":${usage}`), headers);
  }
  const member = script.errorWithUsage ? `,"usage":${usage}` : '';
  return jsonReply(200, `${JSON.stringify(detailOf(usualError(500))).slice(0, -1)}${member}}`, headers);
}

function readAsk(body: Fields): Ask {
  const { model, questions } = body;
  if (typeof model !== 'string' || model === '') return invalid('model', 'Field required', 'missing');
  if (!('state' in body)) return invalid('state', 'Field required', 'missing');
  if (!isEntry(body.state)) return invalid('state', 'Input should be a string, object, array or null', 'entry_type');
  if (!isFields(questions)) return invalid('questions', 'Input should be a valid dictionary', 'dict_type');
  const read = Object.entries(questions).map(([name, question]) => readQuestion(name, question));
  if (read.length === 0) invalid('questions', 'Dictionary should have at least 1 item', 'too_short');
  return { model, state: body.state, questions: read };
}

function readQuestion(name: string, asked: unknown): Question {
  const path = `questions.${name}`;
  if (!isFields(asked)) return invalid(path, 'Input should be a valid dictionary', 'dict_type');
  const { type, instructions = null, criteria } = asked;
  if (!isEntry(instructions))
    invalid(`${path}.instructions`, 'Input should be a string, object or array', 'entry_type');
  switch (type) {
    case 'noul':
      if (!isAbsent(criteria)) checkSides(criteria, path);
      return { name, instructions, kind: 'yes-no', outcomes: ['yes', 'no'], asked };
    case 'choice':
      return { name, instructions, kind: 'choice', outcomes: readLabels(criteria, path), asked };
    case 'score':
      return { name, instructions, kind: 'score', outcomes: readLevels(criteria, path), asked };
    default:
      return invalid(`${path}.type`, "Input tag should be one of 'noul', 'choice', 'score'", 'union_tag_invalid');
  }
}

function checkSides(criteria: unknown, path: string): void {
  const isKnown = isFields(criteria) && Object.keys(criteria).every((side) => side === 'true' || side === 'false');
  if (!isKnown) invalid(`${path}.criteria`, "Input should have 'true' and 'false' only", 'extra_forbidden');
}

function readLabels(criteria: unknown, path: string): string[] {
  const labels = isFields(criteria) ? Object.keys(criteria) : [];
  if (labels.length >= 2 && labels.length <= CHOICES_MAX) return labels;
  return invalid(`${path}.criteria`, `Dictionary should have 2 to ${CHOICES_MAX} items`, 'length');
}

function readLevels(criteria: unknown, path: string): string[] {
  const levels: unknown[] = Array.isArray(criteria) ? criteria : [];
  if (levels.length >= 2 && levels.length <= LEVELS_MAX) return levels.map((_, level) => String(level));
  return invalid(`${path}.criteria`, `List should have 2 to ${LEVELS_MAX} items`, 'length');
}

function isEntry(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'object';
}

function writeAnswers(ask: Ask, usageMember: string): string {
  const answers = Object.fromEntries(ask.questions.map((question) => [question.name, answerTo(ask, question)]));
  return `{"model":${JSON.stringify(versionOf(ask.model))},"answers":${JSON.stringify(answers)}${usageMember}}`;
}

function answerTo(ask: Ask, question: Question): object {
  const { shares, best, confidence, expected } = decide(ask, question);
  const { kind, outcomes, asked } = question;
  if (kind === 'yes-no') return { type: 'noul', noul: shares[0] };
  const probabilities = Object.fromEntries(outcomes.map((outcome, index) => [outcome, shares[index]]));
  if (kind === 'choice') return { type: 'choice', choice: outcomes[best], confidence, probabilities };
  const legend = Object.fromEntries(Object.entries((asked as Fields).criteria as unknown[]));
  return { type: 'score', score: expected, confidence, legend, probabilities };
}

function writeUsage(ask: Ask, fault: UsageFault | undefined): string {
  const count = countWriter(fault);
  return `{"input_tokens":${count(countInput(ask))},"output_tokens":${count(countOutput(ask))}}`;
}

/** The vendor's validation errors name the field; its other errors have a type. */
function invalid(param: string, message: string, code: string): never {
  throw new RefusedRequest({ status: 422, message, type: 'invalid_request_error', code, param });
}

function refuseDetailed(refusal: Refusal, host: SimHost): Reply {
  const headers = {
    'x-typesafe-request-id': host.mintId('req_'),
    ...(refusal.status === 429 && { 'retry-after': '1' }),
  };
  return jsonReply(refusal.status, JSON.stringify(detailOf(refusal)), headers);
}

function detailOf({ status, message, type, code, param }: Refusal): object {
  if (status === 422 && param !== null) {
    return { detail: [{ type: code, loc: ['body', ...param.split('.')], msg: message }] };
  }
  return { detail: { ...(message !== '' && { message }), error_type: type } };
}

const ERROR_TYPES: Record<number, string> = {
  401: 'authentication_error',
  403: 'authentication_error',
  408: 'timeout',
  504: 'timeout',
};

function usualError(status: number): Refusal {
  const type = ERROR_TYPES[status] ?? 'unknown';
  return { status, message: `Simulated: status ${status}.`, type, code: null, param: null };
}
