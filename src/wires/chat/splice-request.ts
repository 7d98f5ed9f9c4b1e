import type { HostQuirks } from '../../canonical/host-quirks.ts';
import type { JsonEdit, JsonText } from '../../json/json.ts';
import { editHostFields, isOmitted, NO_QUIRKS } from '../fields/host-fields.ts';
import { LABEL_FIELDS } from '../fields/labels.ts';
import { refuseLostBudget } from '../fields/lost-budget.ts';
import { isObject, type Members } from '../fields/members.ts';
import { hasPlainLimit } from '../fields/plain-limit.ts';
import type { Peek } from '../peek.ts';
import type { UpstreamTerms } from '../wire.ts';
import { GATEWAY_FIELDS } from './fields.ts';
import { editImages, editMessages } from './message-quirks.ts';

const LIMIT_FIELDS: readonly string[] = ['max_completion_tokens', 'max_tokens'];
/** Fields that some hosts do not get; all others are sent unchanged. */
const CHOSEN_FIELDS: ReadonlySet<string> = new Set([
  ...GATEWAY_FIELDS,
  ...LABEL_FIELDS,
  ...LIMIT_FIELDS,
  'reasoning_effort',
]);

/** The caller's own bytes, with only the fields replaced that must differ for this host. */
export function spliceRequest(text: JsonText, peek: Peek, terms: UpstreamTerms): Buffer {
  const body = text.value as Members;
  if (terms.reasoningEffort === null) refuseLostBudget(peek.reasoning);
  const edit = text.edit();
  for (const name of Object.keys(body)) if (CHOSEN_FIELDS.has(name) && isWithheld(name, terms)) edit.remove([name]);
  if (peek.model !== terms.hostModel) edit.set(['model'], JSON.stringify(terms.hostModel));
  if (!hasPlainLimit(text, terms.outputLimitField, terms.outputLimit))
    edit.set([terms.outputLimitField], String(terms.outputLimit));
  const quirks = terms.quirks ?? NO_QUIRKS;
  editEffort(body, edit, terms.reasoningEffort, quirks);
  editMessages(body, edit, quirks, terms.reasoningEffort);
  if (peek.size.images > 0) editImages(body, edit);
  editHostFields(edit, quirks);
  if (peek.stream && !isOmitted('stream_options', quirks)) askForUsage(body, edit);
  return edit.apply();
}

function editEffort(body: Members, edit: JsonEdit, effort: string | null, { reasoningOff }: HostQuirks): void {
  if (effort === 'none' && reasoningOff !== undefined) {
    edit.remove(['reasoning_effort']);
    for (const [name, value] of Object.entries(reasoningOff)) edit.set([name], JSON.stringify(value));
  } else if (effort !== null && body.reasoning_effort !== effort) {
    edit.set(['reasoning_effort'], JSON.stringify(effort));
  }
}

function isWithheld(name: string, { outputLimitField, forwards, reasoningEffort }: UpstreamTerms): boolean {
  if (GATEWAY_FIELDS.has(name)) return true;
  if (LABEL_FIELDS.includes(name)) return !forwards.includes(name);
  if (LIMIT_FIELDS.includes(name)) return name !== outputLimitField;
  return name === 'reasoning_effort' && reasoningEffort === null;
}

/** Metering needs the usage frame, even if the caller does not. */
function askForUsage(body: Members, edit: JsonEdit): void {
  const options = body.stream_options;
  if (!isObject(options)) edit.set(['stream_options'], '{"include_usage":true}');
  else if (options.include_usage !== true) edit.set(['stream_options', 'include_usage'], 'true');
}
