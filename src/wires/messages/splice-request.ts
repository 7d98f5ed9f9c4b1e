import type { JsonEdit, JsonText } from '../../json/json.ts';
import { isWrappedForeign } from '../fields/foreign-reasoning.ts';
import { editHostFields, NO_QUIRKS } from '../fields/host-fields.ts';
import { isObject, type Members } from '../fields/members.ts';
import type { Peek } from '../peek.ts';
import type { UpstreamTerms } from '../wire.ts';
import { isWithheld } from './fields.ts';

const PLAIN_INTEGER = /^\d+$/;

/** The caller's own bytes, with only the fields replaced that must differ for this host; signatures never change. */
export function spliceRequest(text: JsonText, peek: Peek, terms: UpstreamTerms): Buffer {
  const body = text.value as Members;
  const edit = text.edit();
  for (const name of Object.keys(body)) if (isWithheld(name, terms.forwards)) edit.remove([name]);
  if (peek.model !== terms.hostModel) edit.set(['model'], JSON.stringify(terms.hostModel));
  if (!hasLimit(text, body, terms.outputLimit)) edit.set(['max_tokens'], String(terms.outputLimit));
  removeForeignReasoning(body, edit);
  editHostFields(edit, terms.quirks ?? NO_QUIRKS);
  return edit.apply();
}

/** The limit must be a plain JSON integer: some hosts misread `1e3` and `100.0`. */
function hasLimit(text: JsonText, body: Members, outputLimit: number): boolean {
  if (body.max_tokens !== outputLimit) return false;
  const span = text.locate(['max_tokens'])!;
  return PLAIN_INTEGER.test(text.bytes.toString('latin1', span.start, span.end));
}

/**
 * Removes reasoning of other vendors' models from earlier turns: hosts of this wire must not see it. A turn that has
 * nothing else is removed as a whole, because hosts refuse one without content.
 */
export function removeForeignReasoning({ messages }: Members, edit: JsonEdit): void {
  (messages as unknown[]).forEach((message, at) => {
    if (!isObject(message) || message.role !== 'assistant' || !Array.isArray(message.content)) return;
    const blocks = message.content as Members[];
    const foreign = blocks.flatMap((block, index) => (isForeign(block) ? [index] : []));
    if (foreign.length > 0 && foreign.length === blocks.length) edit.remove(['messages', at]);
    else for (const index of foreign) edit.remove(['messages', at, 'content', index]);
  });
}

function isForeign({ type, signature }: Members): boolean {
  return type === 'thinking' && isWrappedForeign(signature);
}
