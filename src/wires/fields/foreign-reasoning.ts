import type { OpaqueReasoning } from '../../canonical/request.ts';
import { tryParseJson } from '../../json/json.ts';

/** The prefix of wrapped data; no vendor's signature or encrypted text begins with it. */
const MARK = 'tollgate.reasoning.';
const FORMS: readonly unknown[] = ['signature', 'redacted', 'encrypted'] satisfies OpaqueReasoning['form'][];

/** Wraps opaque reasoning of one vendor for the field of another vendor's wire. */
export function wrapForeign({ vendor, form, data, id }: OpaqueReasoning): string {
  const parts = id === undefined ? [vendor, form, data] : [vendor, form, data, id];
  return MARK + Buffer.from(JSON.stringify(parts)).toString('base64url');
}

export function isWrappedForeign(text: unknown): boolean {
  return typeof text === 'string' && text.startsWith(MARK);
}

/** The inverse; null if the text is not wrapped. */
export function unwrapForeign(text: string): OpaqueReasoning | null {
  if (!isWrappedForeign(text)) return null;
  const parts = tryParseJson(Buffer.from(text.slice(MARK.length), 'base64url').toString());
  if (!Array.isArray(parts)) return null;
  const [vendor, form, data, id] = parts;
  if (typeof vendor !== 'string' || !FORMS.includes(form) || typeof data !== 'string') return null;
  const opaque = { vendor, form: form as OpaqueReasoning['form'], data };
  return typeof id === 'string' ? { ...opaque, id } : opaque;
}
