import type { JsonText } from '../../json/json.ts';
import { LABEL_FIELDS } from '../fields/labels.ts';
import type { Members } from '../fields/members.ts';
import type { Peek } from '../peek.ts';
import type { UpstreamTerms } from '../wire.ts';
import { readQuestions } from './questions.ts';

/** Rewrites the questions for `systemone`, the wire of the hosts; the input is sent as the caller wrote it. */
export function spliceRequest(text: JsonText, _peek: Peek, { hostModel, forwards }: UpstreamTerms): Buffer {
  const body = text.value as Members;
  const questions = Object.fromEntries(readQuestions(body.questions).map(({ key, older }) => [key, older]));
  const labels = LABEL_FIELDS.filter((name) => forwards.includes(name)).map((name) => [name, body[name]]);
  const rest = JSON.stringify({ model: hostModel, questions, ...Object.fromEntries(labels) });
  const { start, end } = text.locate(['input'])!;
  return Buffer.concat([
    Buffer.from(`${rest.slice(0, -1)},"state":`),
    text.bytes.subarray(start, end),
    Buffer.from('}'),
  ]);
}
