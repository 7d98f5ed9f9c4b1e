import { endlessBody } from '../../endless.ts';
import { type Fields, isAbsent, isFields, readModel } from '../../fields.ts';
import { jsonReply, type Reply, refuse, type SimHost, type SimWire } from '../../reply.ts';
import type { SimScript, UsageFault } from '../../script.ts';
import { countWriter, isWithheld } from '../../usage-fault.ts';
import { errorJson, refusePlainly, usualError } from '../errors.ts';
import { hostHeaders } from '../host-headers.ts';
import { type Ask, countInput, countOutput, decide, isOverWindow, type Question, versionOf } from './decided.ts';

/** The newer variant of typed decisions, with questions and answers in lists. */
export const decisionsWire: SimWire = {
  path: '/v1/decisions',
  answer: answerDecisions,
  refuse: refusePlainly,
  fail: usualError,
};

const QUESTIONS_MAX = 400;
const CHOICES_MAX = 255;
const LEVELS_MAX = 10;

function answerDecisions(body: Fields, script: SimScript, host: SimHost): Reply {
  const ask = readAsk(body);
  if (isOverWindow(ask)) {
    refuse('context_length_exceeded', 'input', 'Your input exceeds the context window of this model.');
  }
  const headers = hostHeaders(host);
  if (script.endless) return { ...jsonReply(200, '', headers), chunks: endlessBody('{"model":"', 'and so on ') };
  const usage = writeUsage(ask, script.usage);
  if (script.errorAfterChunks === undefined) {
    const member = isWithheld(script.usage) ? '' : `,"usage":${usage}`;
    return jsonReply(200, writeDecision(ask, script, member), headers);
  }
  const member = script.errorWithUsage ? `,"usage":${usage}` : '';
  return jsonReply(200, `{"error":${errorJson(usualError(500))}${member}}`, headers);
}

function readAsk(body: Fields): Ask {
  const model = readModel(body.model);
  const { input, questions } = body;
  if (isAbsent(input)) refuse('missing_required_parameter', 'input', "Missing required parameter: 'input'.");
  if (typeof input !== 'string' && !Array.isArray(input)) {
    refuse('invalid_type', 'input', "Invalid type for 'input': expected a string or a list of items.");
  }
  if (!Array.isArray(questions) || questions.length === 0 || questions.length > QUESTIONS_MAX) {
    return refuse('invalid_value', 'questions', `Invalid 'questions': expected 1 to ${QUESTIONS_MAX} questions.`);
  }
  const read = questions.map((question, index) => readQuestion(question, `questions[${index}]`));
  return { model, state: input, questions: read };
}

function readQuestion(asked: unknown, path: string): Question {
  if (!isFields(asked)) return refuse('invalid_type', path, `Invalid type for '${path}': expected an object.`);
  const { type, instructions } = asked;
  if (typeof instructions !== 'string' && !Array.isArray(instructions)) {
    const message = `Missing required parameter: '${path}.instructions'.`;
    refuse('missing_required_parameter', `${path}.instructions`, message);
  }
  const name = typeof asked.name === 'string' ? asked.name : null;
  switch (type) {
    case 'predicate':
      return { name, instructions, kind: 'yes-no', outcomes: ['yes', 'no'], asked };
    case 'choice':
      readEntries(asked.choices, 'value', ['string', 'boolean'], CHOICES_MAX, `${path}.choices`);
      return { name, instructions, kind: 'choice', outcomes: choicesOf(asked).map(String), asked };
    case 'score':
      readEntries(asked.levels, 'label', ['string'], LEVELS_MAX, `${path}.levels`);
      return { name, instructions, kind: 'score', outcomes: levelsOf(asked).map((_, level) => String(level)), asked };
    default:
      return refuse('invalid_value', `${path}.type`, `Invalid '${path}.type': expected predicate, choice or score.`);
  }
}

function readEntries(entries: unknown, member: string, types: string[], most: number, path: string): void {
  const given: unknown[] = Array.isArray(entries) ? entries : [];
  const isGood = given.every((entry) => isFields(entry) && types.includes(typeof entry[member]));
  if (isGood && given.length >= 2 && given.length <= most) return;
  refuse('invalid_value', path, `Invalid '${path}': expected 2 to ${most} entries with a ${member}.`);
}

function choicesOf(asked: unknown): (string | boolean)[] {
  return ((asked as Fields).choices as { value: string | boolean }[]).map((choice) => choice.value);
}

function levelsOf(asked: unknown): string[] {
  return ((asked as Fields).levels as { label: string }[]).map((level) => level.label);
}

function writeDecision(ask: Ask, script: SimScript, usageMember: string): string {
  const answers = ask.questions.map((question) => {
    const { name } = question;
    return script.refusal === undefined ? { name, ...answerTo(ask, question) } : { name, type: 'refusal' };
  });
  return `{"model":${JSON.stringify(versionOf(ask.model))},"answers":${JSON.stringify(answers)}${usageMember}}`;
}

function answerTo(ask: Ask, question: Question): object {
  const { shares, best, confidence, expected } = decide(ask, question);
  const { kind, asked } = question;
  if (kind === 'yes-no') return { type: 'predicate', probability: shares[0] };
  if (kind === 'choice') {
    const probabilities = choicesOf(asked).map((value, index) => ({ value, probability: shares[index] }));
    return { type: 'choice', choice: probabilities[best]!.value, confidence, probabilities };
  }
  const probabilities = levelsOf(asked).map((label, value) => ({ value, label, probability: shares[value] }));
  return { type: 'score', score: expected, confidence, probabilities };
}

function writeUsage(ask: Ask, fault: UsageFault | undefined): string {
  const count = countWriter(fault);
  const input = countInput(ask);
  const output = countOutput(ask);
  return (
    `{"input_tokens":${count(input)},"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},` +
    `"output_tokens":${count(output)},"output_tokens_details":{"reasoning_tokens":0},` +
    `"total_tokens":${count(input + output)}}`
  );
}
