import { LIMITS } from '../../limits.ts';
import { isAbsent, isObject } from '../fields/members.ts';
import { mustBe, unsupported } from '../fields/request-errors.ts';

/** Instructions in the form of `systemone`: a text, or a list of texts and structures. */
export function readInstructions(instructions: unknown, path: string): unknown {
  if (isAbsent(instructions) || typeof instructions === 'string') return instructions ?? null;
  if (!Array.isArray(instructions) || instructions.length === 0) throw mustBe(path, 'a string or a list of parts');
  const parts = instructions.map((part, index) => readPart(part, `${path}[${index}]`));
  return parts.length === 1 ? parts[0] : parts;
}

function readPart(part: unknown, path: string): unknown {
  refuseNonText(part, path);
  if (isObject(part) && part.type === 'input_text' && typeof part.text === 'string') return part.text;
  if (isObject(part) && part.type === 'input_json' && typeof part.data === 'object') return part.data;
  throw mustBe(path, 'an `input_text` with a `text` or an `input_json` with `data`');
}

/** Types of parts that are not text; the model reads text only and would take their bytes for text. */
const NON_TEXT_PARTS: readonly unknown[] = ['input_image', 'input_file', 'input_audio'];

/** Searches the whole input, at every depth. */
export function refuseNonText(value: unknown, path: string): void {
  const found = findNonText(value);
  if (found === null) return;
  const param = `${path}${found}`.slice(0, LIMITS.nameCharsMax);
  throw unsupported(param, `\`${param}\` is not text and has no price here; send text.`);
}

/** The path to the first such part, or null. */
function findNonText(value: unknown): string | null {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = findNonText(value[index]);
      if (found !== null) return `[${index}]${found}`;
    }
  } else if (isObject(value)) {
    if (NON_TEXT_PARTS.includes(value.type)) return '';
    for (const name of Object.keys(value)) {
      const found = findNonText(value[name]);
      if (found !== null) return `.${name}${found}`;
    }
  }
  return null;
}
