import type { HostQuirks } from '../../canonical/host-quirks.ts';
import type { JsonEdit, JsonText } from '../../json/json.ts';
import { editHostFields, NO_QUIRKS } from '../fields/host-fields.ts';
import { refuseLostBudget } from '../fields/lost-budget.ts';
import { isObject, isText, type Members } from '../fields/members.ts';
import { hasPlainLimit } from '../fields/plain-limit.ts';
import { OWN_REASONING_MEMBERS } from '../fields/read-reasoning.ts';
import type { Peek } from '../peek.ts';
import type { UpstreamTerms } from '../wire.ts';
import { reasoningVendor, unwrapEncrypted } from './encrypted-reasoning.ts';
import { isEmptyAsk, isWithheld } from './fields.ts';
import { editTools } from './flatten-tools.ts';

/** The caller's own bytes, with only the fields replaced that must differ for this host. */
export function spliceRequest(text: JsonText, peek: Peek, terms: UpstreamTerms): Buffer {
  const body = text.value as Members;
  if (terms.reasoningEffort === null) refuseLostBudget(peek.reasoning);
  const edit = text.edit();
  for (const name of Object.keys(body)) {
    if (isWithheld(name, terms.forwards) || isEmptyAsk(name, body[name])) edit.remove([name]);
  }
  if (peek.model !== terms.hostModel) edit.set(['model'], JSON.stringify(terms.hostModel));
  if (!hasPlainLimit(text, 'max_output_tokens', terms.outputLimit))
    edit.set(['max_output_tokens'], String(terms.outputLimit));
  if (body.store !== false) edit.set(['store'], 'false');
  editReasoning(body, terms.reasoningEffort, edit);
  editStreamOptions(body, edit);
  const quirks = terms.quirks ?? NO_QUIRKS;
  editPrompt(text, edit, quirks);
  editHostFields(edit, quirks);
  return edit.apply();
}

/** Edits for this host what the model reads: earlier reasoning, and tools. */
export function editPrompt(text: JsonText, edit: JsonEdit, quirks: HostQuirks): void {
  restoreEncrypted(text.value as Members, edit, reasoningVendor(quirks));
  if (quirks.clientTools !== true) editTools(text, edit);
}

/** Removes this gateway's own members from `reasoning` and sets an effort that the model has. */
function editReasoning({ reasoning }: Members, effort: string | null, edit: JsonEdit): void {
  if (!isObject(reasoning)) {
    if (effort !== null) edit.set(['reasoning'], JSON.stringify({ effort }));
    return;
  }
  const removed = [...OWN_REASONING_MEMBERS, ...(effort === null ? ['effort'] : [])];
  if (effort === null && Object.keys(reasoning).every((name) => removed.includes(name))) {
    edit.remove(['reasoning']);
    return;
  }
  for (const name of removed) edit.remove(['reasoning', name]);
  if (effort !== null && reasoning.effort !== effort) edit.set(['reasoning', 'effort'], JSON.stringify(effort));
}

/** Usage always comes with the last event of this wire; hosts do not know the option. */
function editStreamOptions({ stream_options: options }: Members, edit: JsonEdit): void {
  if (!isObject(options) || options.include_usage === undefined) return;
  if (Object.keys(options).length === 1) edit.remove(['stream_options']);
  else edit.remove(['stream_options', 'include_usage']);
}

/** Removes reasoning of other vendors' models from earlier turns. */
function restoreEncrypted({ input }: Members, edit: JsonEdit, vendor: string): void {
  if (!Array.isArray(input)) return;
  input.forEach((item, index) => {
    if (!isObject(item) || !isText(item.encrypted_content)) return;
    const seal = unwrapEncrypted(item.encrypted_content, vendor);
    if (seal === null) edit.remove(['input', index]);
    else if (seal !== item.encrypted_content) edit.set(['input', index, 'encrypted_content'], JSON.stringify(seal));
  });
}
