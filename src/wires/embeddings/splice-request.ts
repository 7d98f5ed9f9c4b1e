import type { JsonText } from '../../json/json.ts';
import { editHostFields, NO_QUIRKS } from '../fields/host-fields.ts';
import type { Members } from '../fields/members.ts';
import type { Peek } from '../peek.ts';
import type { UpstreamTerms } from '../wire.ts';
import { isWithheld } from './fields.ts';

/** The caller's own bytes; `dimensions` is left out for hosts that cannot shorten vectors. */
export function spliceRequest(
  text: JsonText,
  peek: Peek,
  { hostModel, forwards, reducesVectors, quirks = NO_QUIRKS }: UpstreamTerms,
): Buffer {
  const edit = text.edit();
  for (const name of Object.keys(text.value as Members)) if (isWithheld(name, forwards)) edit.remove([name]);
  if (!reducesVectors) edit.remove(['dimensions']);
  editHostFields(edit, quirks);
  if (peek.model !== hostModel) edit.set(['model'], JSON.stringify(hostModel));
  return edit.apply();
}
