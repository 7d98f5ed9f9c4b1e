import type { OpaqueReasoning } from '../../canonical/request.ts';
import { tryParseJson } from '../../json/json.ts';

/** Marks a wrapping of ours; no vendor's own signature or encrypted text begins so. */
const MARK = 'tollgate.reasoning.';
const FORMS: readonly unknown[] = ['signature', 'redacted', 'encrypted'] satisfies OpaqueReasoning['form'][];

/** Wraps what one vendor made for a client whose wire has only the place of another vendor's. */
export function sealForeign({ vendor, form, data, id }: OpaqueReasoning): string {
  const parts = id === undefined ? [vendor, form, data] : [vendor, form, data, id];
  return MARK + Buffer.from(JSON.stringify(parts)).toString('base64url');
}

export function isSealedForeign(text: unknown): boolean {
  return typeof text === 'string' && text.startsWith(MARK);
}

/** The inverse; null for what is no wrapping of ours. */
export function openForeign(text: string): OpaqueReasoning | null {
  if (!isSealedForeign(text)) return null;
  const parts = tryParseJson(Buffer.from(text.slice(MARK.length), 'base64url').toString());
  if (!Array.isArray(parts)) return null;
  const [vendor, form, data, id] = parts;
  if (typeof vendor !== 'string' || !FORMS.includes(form) || typeof data !== 'string') return null;
  const opaque = { vendor, form: form as OpaqueReasoning['form'], data };
  return typeof id === 'string' ? { ...opaque, id } : opaque;
}
