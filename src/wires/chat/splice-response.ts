import { type JsonText, tryParseExact } from '../../json/json.ts';
import { isObject, type Members } from '../fields/members.ts';
import { writeAnswer } from '../frames/response-memory.ts';
import { parseResponse } from '../parse-response.ts';
import { usageRule } from '../usage/inclusive-usage.ts';
import { promptUsageText, readPromptUsage } from '../usage/prompt-usage.ts';
import type { BufferedResponse, RelayTerms } from '../wire.ts';
import { extraOfDelta } from './extra-content.ts';
import { isFailure } from './finish-reason.ts';
import { findKnownResponse, type KnownResponse, learnResponse } from './known-response.ts';
import { answersIn, brokenResponse, mendResponse, type ResponseChoice } from './mend-response.ts';
import { modelBytes } from './mend-text.ts';
import { exactResponse } from './mend-tool-calls.ts';
import { findUsage } from './quirks.ts';

/** Reads a buffered response and writes the host's own bytes with `model` and `usage` replaced; rebuilds it if it needs repair. */
export function spliceResponse(body: Buffer, terms: RelayTerms): BufferedResponse {
  const known = terms.answers === undefined ? null : findKnownResponse(body, terms.answers);
  return known === null ? spliceParsed(body, terms) : spliceKnown(body, known, terms);
}

function spliceKnown(
  body: Buffer,
  { found, rawUsage, wordBytes }: KnownResponse,
  { quirks }: RelayTerms,
): BufferedResponse {
  return {
    usage: readPromptUsage(rawUsage, usageRule(quirks)),
    relayedBytes: wordBytes,
    write: (bill) => writeAnswer(found, body, promptUsageText(bill, rawUsage)),
  };
}

function spliceParsed(body: Buffer, terms: RelayTerms): BufferedResponse {
  const text = parseResponse(body);
  const answer = exactResponse(text.value, body);
  const choices = isObject(answer) ? answersIn(answer.choices) : [];
  if (!isObject(answer) || choices.length === 0 || isObject(answer.error)) throw brokenResponse(answer);
  const failed = choices.find((choice) => isFailure(choice.finish_reason));
  if (failed !== undefined) throw brokenResponse(failed);
  const rawUsage = findUsage(answer, choices.length === 1);
  const changed = mendResponse(answer, choices, terms);
  // Clients of aggregators require this member, even if it is null.
  const isUnnamed = answer.system_fingerprint === undefined;
  const splice = changed ? spliceInto(answer, terms) : spliceBytes(text, terms, isUnnamed);
  if (!changed && terms.answers?.mayLearn() === true) learnResponse(terms.answers, body, answer, splice('{}'));
  return {
    usage: readPromptUsage(rawUsage, usageRule(terms.quirks)),
    relayedBytes: choices.reduce((sum, choice) => sum + bytesOf(choice), 0),
    write: (bill) => splice(promptUsageText(bill, rawUsage)),
  };
}

function bytesOf({ message, logprobs }: ResponseChoice): number {
  return modelBytes(message) + extraOfDelta(message, logprobs);
}

/** The last step, once the bill is known. Everything that can fail was done before anything was billed. */
type Splice = (usage: string) => Buffer;

function spliceInto(answer: Members, { catalogModel }: RelayTerms): Splice {
  const rest = JSON.stringify({ system_fingerprint: null, ...answer, model: catalogModel, usage: undefined });
  return (usage) => Buffer.from(`${rest.slice(0, -1)},"usage":${usage}}`);
}

function spliceBytes(text: JsonText, { catalogModel }: RelayTerms, isUnnamed: boolean): Splice {
  const model = JSON.stringify(catalogModel);
  return (usage) => {
    const edit = text.edit().set(['model'], model).set(['usage'], usage);
    return (isUnnamed ? edit.set(['system_fingerprint'], 'null') : edit).apply();
  };
}

/** Some hosts cannot stream and send one JSON body: it becomes one chunk, or one error frame. */
export function responseAsStream(body: Buffer): Buffer | null {
  const answer = tryParseExact(body.toString('utf8'));
  if (!isObject(answer)) return null;
  if (answer.error) return Buffer.from(frameOf({ error: answer.error, usage: answer.usage }));
  if (!Array.isArray(answer.choices)) return null;
  const { choices, usage, ...rest } = answer;
  const head = { ...rest, object: 'chat.completion.chunk' };
  const words = frameOf({ ...head, choices: answersIn(choices).map(asDelta) });
  return Buffer.from(`${words}${frameOf({ ...head, choices: [], usage })}data: [DONE]\n\n`);
}

function asDelta({ message, ...choice }: ResponseChoice): Members {
  const { tool_calls: calls } = message;
  if (!Array.isArray(calls)) return { ...choice, delta: message };
  const fragments = calls.filter(isObject).map((call, index) => ({ ...call, index }));
  return { ...choice, delta: { ...message, tool_calls: fragments } };
}

function frameOf(chunk: Members): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
