import { type JsonText, tryParseJson } from '../../json/json.ts';
import { readErrorMember } from '../errors/read-host-error.ts';
import { isUsableId } from '../fields/host-members.ts';
import { isObject, type Members } from '../fields/members.ts';
import { parseResponse } from '../parse-response.ts';
import { usageRule } from '../usage/inclusive-usage.ts';
import { promptUsageText, readPromptUsage } from '../usage/prompt-usage.ts';
import { type BufferedResponse, HostResponseBroken, type RelayTerms } from '../wire.ts';
import { extraOfChoice } from './extra-content.ts';
import { isFailure, mendFinishReason } from './finish-reason.ts';
import { mendChoice, put, removeHostMembers } from './mend-choice.ts';

/** A choice of a buffered response. */
interface ResponseChoice extends Members {
  readonly text: string;
}

/** Reads a buffered response and writes the host's own bytes with `model` and `usage` replaced; rebuilds it if it needs repair. */
export function spliceResponse(body: Buffer, terms: RelayTerms): BufferedResponse {
  const text = parseResponse(body);
  const answer = text.value;
  const choices = isObject(answer) ? choicesOf(answer) : [];
  if (!isObject(answer) || choices.length === 0 || isObject(answer.error)) throw brokenResponse(answer);
  const failed = choices.find((choice) => isFailure(choice.finish_reason));
  if (failed !== undefined) throw brokenResponse(failed);
  const rawUsage = answer.usage;
  const splice = mendResponse(answer, choices, terms) ? spliceInto(answer, terms) : spliceBytes(text, terms);
  return {
    usage: readPromptUsage(rawUsage, usageRule(terms.quirks)),
    relayedBytes: choices.reduce((sum, choice) => sum + Buffer.byteLength(choice.text) + extraOfChoice(choice), 0),
    write: (bill) => splice(promptUsageText(bill, rawUsage)),
  };
}

function choicesOf({ choices }: Members): ResponseChoice[] {
  return Array.isArray(choices) ? choices.filter(hasText) : [];
}

function hasText(choice: unknown): choice is ResponseChoice {
  return isObject(choice) && typeof choice.text === 'string';
}

/** Some hosts report an error with status 200. */
function brokenResponse(answer: unknown): HostResponseBroken {
  const error = isObject(answer) ? answer.error : null;
  const hostError = error ? readErrorMember(error) : null;
  return new HostResponseBroken("The host's response is not a completion.", hostError);
}

/** Repairs a buffered response in place; true if anything changed. */
function mendResponse(answer: Members, choices: readonly ResponseChoice[], terms: RelayTerms): boolean {
  let changed = removeHostMembers(answer);
  if (!isUsableId(answer.id)) changed = put(answer, 'id', `cmpl-${terms.requestId}`);
  if (!Number.isSafeInteger(answer.created)) changed = put(answer, 'created', terms.createdS);
  if (answer.object !== 'text_completion') changed = put(answer, 'object', 'text_completion');
  if (choices.length !== (answer.choices as unknown[]).length) changed = put(answer, 'choices', choices);
  choices.forEach((choice, position) => {
    const index = Number.isSafeInteger(choice.index) ? (choice.index as number) : position;
    changed = mendChoice(choice, index, terms.hideReasoning) || changed;
    const reason = mendFinishReason(choice.finish_reason) ?? 'stop';
    if (reason !== choice.finish_reason) changed = put(choice, 'finish_reason', reason);
  });
  return changed;
}

/** The last step, once the bill is known. Everything that can fail was done before anything was billed. */
type Splice = (usage: string) => Buffer;

function spliceInto(answer: Members, { catalogModel }: RelayTerms): Splice {
  const rest = JSON.stringify({ ...answer, model: catalogModel, usage: undefined });
  return (usage) => Buffer.from(`${rest.slice(0, -1)},"usage":${usage}}`);
}

function spliceBytes(text: JsonText, { catalogModel }: RelayTerms): Splice {
  const model = JSON.stringify(catalogModel);
  // Walks the text now, while an error in it can still be reported.
  text.locate(['model']);
  return (usage) => text.edit().set(['model'], model).set(['usage'], usage).apply();
}

/** Some hosts cannot stream and send one JSON body: it becomes one chunk, or one error frame. */
export function responseAsStream(body: Buffer): Buffer | null {
  const answer = tryParseJson(body.toString('utf8'));
  if (!isObject(answer)) return null;
  if (answer.error) return Buffer.from(frameOf({ error: answer.error, usage: answer.usage }));
  if (!Array.isArray(answer.choices)) return null;
  const { choices: _, usage, ...rest } = answer;
  const words = frameOf({ ...rest, choices: choicesOf(answer) });
  return Buffer.from(`${words}${frameOf({ ...rest, choices: [], usage })}data: [DONE]\n\n`);
}

function frameOf(chunk: Members): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
