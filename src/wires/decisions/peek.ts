import { GatewayError } from '../../canonical/errors.ts';
import type { JsonText } from '../../json/json.ts';
import { LABEL_FIELDS } from '../fields/labels.ts';
import { isObject, type Members } from '../fields/members.ts';
import { readModel } from '../fields/read-model.ts';
import { missing, untranslatable } from '../fields/request-errors.ts';
import { checkEntry, decisionPeek, GATEWAY_FIELDS, isRefusable } from '../fields/typed-decision.ts';
import { hasNoEffect } from '../fields/without-effect.ts';
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
  refuseUntranslatable(body);
  checkInput(body.input);
  readQuestions(body.questions);
  return peeked;
}

function checkInput(input: unknown): void {
  if (input === undefined) throw missing('input', '`input` is missing; send what the questions are about, or null.');
  checkEntry(input, 'input');
  refuseNonText(input, 'input');
}

const CARRIED = new Set(['model', 'input', 'questions', ...GATEWAY_FIELDS, ...LABEL_FIELDS]);

/** The request is rewritten for `systemone`, so a field that it lacks would be lost. Values that ask for nothing are. */
function refuseUntranslatable(body: Members): void {
  for (const name of Object.keys(body)) {
    if (!CARRIED.has(name) && !isRefusable(name) && !hasNoEffect(name, body[name])) throw untranslatable(name);
  }
}
