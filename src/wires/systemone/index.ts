import type { JsonText } from '../../kit/json.ts';
import { COMMENT, writeError, writeStreamError } from '../envelope.ts';
import { LABEL_FIELDS } from '../labels.ts';
import type { Members } from '../members.ts';
import { readHostError } from '../read-host-error.ts';
import { REFUSED_EVERYWHERE } from '../refused-fields.ts';
import type { Peek, UpstreamTerms, Wire } from '../wire.ts';
import { peek } from './peek.ts';
import { readAnswer } from './read-answer.ts';

/** Program state plus typed questions in, typed answers with probabilities out. */
export const systemone: Wire = {
  name: 'systemone',
  client: { peek, texts: (body) => [JSON.stringify(body)], writeError, writeStreamError, keepAlive: COMMENT },
  relay: { path: '/systemone', writeRequest, readAnswer, readError: readHostError },
};

function writeRequest(text: JsonText, peeked: Peek, { hostModel, forwards }: UpstreamTerms): Buffer {
  const body = text.value as Members;
  const edit = text.edit();
  if (peeked.model !== hostModel) edit.set(['model'], JSON.stringify(hostModel));
  const hidden = LABEL_FIELDS.filter((field) => !forwards.includes(field));
  for (const field of [...hidden, ...Object.keys(REFUSED_EVERYWHERE), 'stream']) {
    if (Object.hasOwn(body, field)) edit.remove([field]);
  }
  return edit.apply();
}
