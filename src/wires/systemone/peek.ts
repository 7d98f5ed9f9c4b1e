import { GatewayError } from '../../canonical/errors.ts';
import type { JsonText } from '../../json/json.ts';
import { isObject } from '../fields/members.ts';
import { readModel } from '../fields/read-model.ts';
import { missing } from '../fields/request-errors.ts';
import { checkEntry, decisionPeek } from '../fields/typed-decision.ts';
import type { Peek } from '../peek.ts';
import { checkQuestions } from './questions.ts';

export function peek(text: JsonText): Peek {
  const body = text.value;
  if (!isObject(body)) {
    throw new GatewayError('invalid_request_body', {
      message: 'The body must be a JSON object with `model`, `state` and `questions`.',
    });
  }
  const model = readModel(body);
  if (body.state === undefined)
    throw missing('state', '`state` is missing; send what the questions are about, or null.');
  checkEntry(body.state, 'state');
  checkQuestions(body.questions);
  return decisionPeek(model, body, text.bytes, 'state');
}
