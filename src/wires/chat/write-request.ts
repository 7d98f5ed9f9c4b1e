import { editJson, type JsonText, locateJson } from '../../kit/json.ts';
import type { Peek, UpstreamTerms } from '../wire.ts';
import { GATEWAY_FIELDS, isObject, LABEL_FIELDS } from './fields.ts';

const LIMIT_FIELDS = ['max_completion_tokens', 'max_tokens'];
const PLAIN_INTEGER = /^\d+$/;

/** The caller's own bytes with the few members replaced that must differ for this host. */
export function writeRequest(text: JsonText, peek: Peek, terms: UpstreamTerms): Buffer {
  const body = text.value as Record<string, unknown>;
  const edit = editJson(text.bytes);
  if (peek.model !== terms.hostModel) edit.set(['model'], JSON.stringify(terms.hostModel));
  for (const field of removedFields(body, terms)) edit.remove([field]);
  if (!saysExactly(text, body, terms)) edit.set([terms.outputLimitField], String(terms.outputLimit));
  if (terms.reasoningEffort !== null && body.reasoning_effort !== terms.reasoningEffort) {
    edit.set(['reasoning_effort'], JSON.stringify(terms.reasoningEffort));
  }
  if (peek.stream) askForUsage(body, edit);
  return edit.apply();
}

function removedFields(body: Record<string, unknown>, terms: UpstreamTerms): string[] {
  const hidden = LABEL_FIELDS.filter((field) => !terms.forwards.includes(field));
  const otherLimits = LIMIT_FIELDS.filter((field) => field !== terms.outputLimitField);
  const effort = terms.reasoningEffort === null ? ['reasoning_effort'] : [];
  return [...GATEWAY_FIELDS, ...hidden, ...otherLimits, ...effort].filter((field) => Object.hasOwn(body, field));
}

/** The limit must be a plain JSON integer: `1e3` and `100.0` are read as other numbers by some hosts. */
function saysExactly(text: JsonText, body: Record<string, unknown>, terms: UpstreamTerms): boolean {
  if (body[terms.outputLimitField] !== terms.outputLimit) return false;
  const span = locateJson(text.bytes, [terms.outputLimitField]);
  return span !== null && PLAIN_INTEGER.test(text.bytes.toString('latin1', span.start, span.end));
}

/** Metering needs the usage frame whether or not the caller does. */
function askForUsage(body: Record<string, unknown>, edit: ReturnType<typeof editJson>): void {
  const options = body.stream_options;
  if (!isObject(options)) edit.set(['stream_options'], '{"include_usage":true}');
  else if (options.include_usage !== true) edit.set(['stream_options', 'include_usage'], 'true');
}
