import { GatewayError } from '../../canonical/errors.ts';
import type { JsonText } from '../../json/json.ts';
import { isObject } from '../fields/members.ts';
import { readModel } from '../fields/read-model.ts';
import { missing } from '../fields/request-errors.ts';
import { checkEntry, decisionPeek } from '../fields/typed-decision.ts';
import type { Peek } from '../peek.ts';
import { refuseNonText } from './instructions.ts';
import { readQuestions } from './questions.ts';

export function peek(text: JsonText): Peek {
  const body = text.value;
  if (!isObject(body)) {
    throw new GatewayError('invalid_request_body', {
      message: 'The body must be a JSON object with `model`, `input` and `questions`.',
    });
  }
  const model = readModel(body);
  const peeked = decisionPeek(model, body, text.bytes, 'input');
  checkInput(body.input);
  readQuestions(body.questions);
  return peeked;
}

function checkInput(input: unknown): void {
  if (input === undefined) throw missing('input', '`input` is missing; send what the questions are about, or null.');
  checkEntry(input, 'input');
  refuseNonText(input, 'input');
}
