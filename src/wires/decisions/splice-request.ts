import { editJson, type JsonText } from '../../json/json.ts';
import type { Adjustments } from '../adjustments.ts';
import { LABEL_FIELDS } from '../fields/labels.ts';
import { isObject, type Members, objectsIn } from '../fields/members.ts';
import { GATEWAY_FIELDS, isRefusable } from '../fields/typed-decision.ts';
import { hasNoEffect } from '../fields/without-effect.ts';
import type { Peek } from '../peek.ts';
import type { UpstreamTerms } from '../wire.ts';
import { type Question, readQuestions } from './questions.ts';

/** Rewrites the questions for `systemone`, the wire of the hosts; the input is sent as the caller wrote it. */
export function spliceRequest(text: JsonText, _peek: Peek, { hostModel, forwards }: UpstreamTerms): Buffer {
  const body = text.value as Members;
  const asked = readQuestions(body.questions);
  const questions = Object.fromEntries(asked.map(({ key, older }) => [key, older]));
  const labels = LABEL_FIELDS.filter((name) => forwards.includes(name)).map((name) => [name, body[name]]);
  const rest = withWrittenData(
    Buffer.from(JSON.stringify({ model: hostModel, questions, ...Object.fromEntries(labels) })),
    text,
    asked,
  );
  const { start, end } = text.locate(['input'])!;
  return Buffer.concat([
    rest.subarray(0, -1),
    Buffer.from(',"state":'),
    text.bytes.subarray(start, end),
    Buffer.from('}'),
  ]);
}

const CARRIED: ReadonlySet<string> = new Set(['model', 'input', 'questions', ...GATEWAY_FIELDS, ...LABEL_FIELDS]);
/** Settings of a cache, which no host of `systemone` has. */
const CACHE_SETTINGS: ReadonlySet<string> = new Set(['prompt_cache_options', 'prompt_cache_retention']);

/** A field that `systemone` lacks would be lost, so it is refused, or named if the caller allows dropping. */
export function noteLeftOut({ value }: JsonText, _terms: UpstreamTerms, adjustments: Adjustments): void {
  const body = value as Members;
  for (const name of Object.keys(body)) {
    if (CARRIED.has(name) || isRefusable(name) || hasNoEffect(name, body[name])) continue;
    // The prompt of the other form of this wire: without it the model would decide something else.
    if (name === 'state') adjustments.refuse(name);
    if (CACHE_SETTINGS.has(name)) adjustments.note(name);
    else adjustments.dropUnknown(name, body[name]);
  }
}

/** Puts structures of instructions back as the caller wrote them: a long number would lose digits if it were read. */
function withWrittenData(rest: Buffer, text: JsonText, asked: readonly Question[]): Buffer {
  const edit = editJson(rest);
  objectsIn((text.value as Members).questions).forEach(({ instructions }, index) => {
    if (!Array.isArray(instructions)) return;
    instructions.forEach((part: unknown, at) => {
      if (!isObject(part) || part.type !== 'input_json') return;
      const { start, end } = text.locate(['questions', index, 'instructions', at, 'data'])!;
      const path = ['questions', asked[index]!.key, 'instructions', ...(instructions.length > 1 ? [at] : [])];
      edit.set(path, text.bytes.toString('utf8', start, end));
    });
  });
  return edit.apply();
}
