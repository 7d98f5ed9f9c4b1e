import type { JsonText } from '../../kit/json.ts';
import { LABEL_FIELDS } from '../labels.ts';
import type { Members } from '../members.ts';
import { REFUSED_EVERYWHERE } from '../refused-fields.ts';
import type { Peek, UpstreamTerms } from '../wire.ts';

/** The caller's bytes; a host that cannot reduce vectors is not asked to. */
export function writeRequest(text: JsonText, peek: Peek, terms: UpstreamTerms): Buffer {
  const body = text.value as Members;
  const edit = text.edit();
  if (peek.model !== terms.hostModel) edit.set(['model'], JSON.stringify(terms.hostModel));
  const hidden = LABEL_FIELDS.filter((field) => !terms.forwards.includes(field));
  const ours = Object.keys(REFUSED_EVERYWHERE);
  const reduced = terms.reducesVectors ? [] : ['dimensions'];
  for (const field of [...hidden, ...ours, ...reduced, 'stream']) {
    if (Object.hasOwn(body, field)) edit.remove([field]);
  }
  return edit.apply();
}
