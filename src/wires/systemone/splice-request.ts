import type { JsonText } from '../../json/json.ts';
import { editHostFields, NO_QUIRKS } from '../fields/host-fields.ts';
import { LABEL_FIELDS } from '../fields/labels.ts';
import type { Members } from '../fields/members.ts';
import { GATEWAY_FIELDS, isRefusable } from '../fields/typed-decision.ts';
import type { Peek } from '../peek.ts';
import type { UpstreamTerms } from '../wire.ts';

/** The caller's own bytes, with only the fields replaced that must differ for this host. */
export function spliceRequest(text: JsonText, peek: Peek, { hostModel, forwards, quirks }: UpstreamTerms): Buffer {
  const edit = text.edit();
  for (const name of Object.keys(text.value as Members)) if (isWithheld(name, forwards)) edit.remove([name]);
  if (peek.model !== hostModel) edit.set(['model'], JSON.stringify(hostModel));
  editHostFields(edit, quirks ?? NO_QUIRKS);
  return edit.apply();
}

function isWithheld(name: string, forwards: readonly string[]): boolean {
  if (LABEL_FIELDS.includes(name)) return !forwards.includes(name);
  return GATEWAY_FIELDS.includes(name) || isRefusable(name);
}
