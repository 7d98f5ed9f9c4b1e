/** Begins with a letter and has no mark that YAML could read as anything but text. A colon must not end it. */
const PLAIN = /^[A-Za-z](?:[\w./@+-]|:(?=[\w./@+-]))*$/;
/** Booleans and null, in YAML 1.1 or 1.2. */
const WORD = /^(?:y|n|yes|no|on|off|true|false|null)$/i;
/** JSON leaves these as they are, and YAML does not allow them or takes them for line breaks. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** A text as a value of one line, quoted if YAML could read it as something else. */
export function yamlScalar(text: string): string {
  if (PLAIN.test(text) && !WORD.test(text)) return text;
  return JSON.stringify(text).replace(UNPRINTABLE, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
