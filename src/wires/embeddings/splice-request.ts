import type { JsonText } from '../../json/json.ts';
import { editHostFields, NO_MANNERS } from '../fields/host-fields.ts';
import type { Members } from '../fields/members.ts';
import type { Peek, UpstreamTerms } from '../wire.ts';
import { isWithheld } from './fields.ts';

/** The caller's bytes; a host that cannot reduce vectors is not asked to. */
export function writeRequest(
  text: JsonText,
  peek: Peek,
  { hostModel, forwards, reducesVectors, manners = NO_MANNERS }: UpstreamTerms,
): Buffer {
  const edit = text.edit();
  for (const name of Object.keys(text.value as Members)) if (isWithheld(name, forwards)) edit.remove([name]);
  if (!reducesVectors) edit.remove(['dimensions']);
  editHostFields(edit, manners);
  if (peek.model !== hostModel) edit.set(['model'], JSON.stringify(hostModel));
  return edit.apply();
}
