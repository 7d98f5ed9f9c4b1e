import type { JsonText } from '../../json/json.ts';
import type { Members } from './members.ts';

/** Whether the body has this output limit as a plain JSON integer: some hosts misread `1e3` and `100.0`. */
export function hasPlainLimit(text: JsonText, field: string, limit: number): boolean {
  if ((text.value as Members)[field] !== limit) return false;
  const { start, end } = text.locate([field])!;
  for (let at = start; at < end; at++) if (!isDigit(text.bytes[at]!)) return false;
  return true;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
