const HIDDEN = '[key]';
/** A shorter beginning tells nobody anything, and an innocent word may look like one. */
const BEGINNING_CHARS_MIN = 8;

/**
 * The text of somebody else without the secret: as it is, in a URL or in JSON. The text may have been cut within the secret,
 * so a beginning of it at the end is hidden too.
 */
export function hideSecret(text: string, secret: string): string {
  const forms = new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]);
  return [...forms].reduce((rest, form) => withoutBeginning(rest.replaceAll(form, HIDDEN), form), text);
}

function withoutBeginning(text: string, secret: string): string {
  for (let chars = secret.length - 1; chars >= BEGINNING_CHARS_MIN; chars--) {
    if (text.endsWith(secret.slice(0, chars))) return text.slice(0, -chars) + HIDDEN;
  }
  return text;
}
