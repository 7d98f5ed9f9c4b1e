import { GatewayError } from '../../canonical/errors.ts';
import type { JsonText } from '../../kit/json.ts';
import { COMMENT, writeError, writeStreamError } from '../envelope.ts';
import { isObject, type Members } from '../members.ts';
import { readHostError } from '../read-host-error.ts';
import { readModel } from '../read-model.ts';
import { missing } from '../request-errors.ts';
import { decisionPeek } from '../typed-decision.ts';
import type { Peek, UpstreamTerms, Wire } from '../wire.ts';
import { readQuestions } from './questions.ts';
import { readAnswer } from './read-answer.ts';

/** The newer spelling of typed decisions, from the same core: lists where the older one has objects by name. */
export const decisions: Wire = {
  name: 'decisions',
  spells: 'systemone',
  client: { peek, texts: (body) => [JSON.stringify(body)], writeError, writeStreamError, keepAlive: COMMENT },
  relay: { path: '/systemone', writeRequest, readAnswer, readError: readHostError },
};

function peek(text: JsonText): Peek {
  const body = text.value;
  if (!isObject(body)) {
    throw new GatewayError('invalid_request_body', {
      message: 'The body must be a JSON object with `model`, `input` and `questions`.',
    });
  }
  const model = readModel(body);
  if (body.input === undefined)
    throw missing('input', '`input` is missing; send what the questions are about, or null.');
  readQuestions(body.questions);
  return decisionPeek(model, body, text.bytes.length);
}

function writeRequest(text: JsonText, _peek: Peek, { hostModel }: UpstreamTerms): Buffer {
  const { input, questions } = text.value as Members;
  const byName = Object.fromEntries(readQuestions(questions).map(({ name, older }) => [name, older]));
  return Buffer.from(JSON.stringify({ model: hostModel, state: input, questions: byName }));
}
