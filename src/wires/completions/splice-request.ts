import type { JsonEdit, JsonText } from '../../json/json.ts';
import { editHostFields, isOmitted, NO_QUIRKS } from '../fields/host-fields.ts';
import { refuseLostBudget } from '../fields/lost-budget.ts';
import { isObject, type Members } from '../fields/members.ts';
import { hasPlainLimit } from '../fields/plain-limit.ts';
import type { Peek } from '../peek.ts';
import type { UpstreamTerms } from '../wire.ts';
import { isWithheld } from './fields.ts';

/** The caller's own bytes, with only the fields replaced that must differ for this host. */
export function spliceRequest(text: JsonText, peek: Peek, terms: UpstreamTerms): Buffer {
  const body = text.value as Members;
  if (terms.reasoningEffort === null) refuseLostBudget(peek.reasoning);
  const edit = text.edit();
  for (const name of Object.keys(body)) if (isWithheld(name, terms.forwards)) edit.remove([name]);
  if (peek.model !== terms.hostModel) edit.set(['model'], JSON.stringify(terms.hostModel));
  if (!hasPlainLimit(text, 'max_tokens', terms.outputLimit)) edit.set(['max_tokens'], String(terms.outputLimit));
  writeEffort(body, terms, edit);
  const quirks = terms.quirks ?? NO_QUIRKS;
  editHostFields(edit, quirks);
  if (peek.stream && !isOmitted('stream_options', quirks)) askForUsage(body, edit);
  return edit.apply();
}

function writeEffort(body: Members, { reasoningEffort }: UpstreamTerms, edit: JsonEdit): void {
  if (reasoningEffort === null) edit.remove(['reasoning_effort']);
  else if (body.reasoning_effort !== reasoningEffort) edit.set(['reasoning_effort'], JSON.stringify(reasoningEffort));
}

/** Metering needs the usage frame, even if the caller does not. */
function askForUsage(body: Members, edit: JsonEdit): void {
  const options = body.stream_options;
  if (!isObject(options)) edit.set(['stream_options'], '{"include_usage":true}');
  else if (options.include_usage !== true) edit.set(['stream_options', 'include_usage'], 'true');
}
