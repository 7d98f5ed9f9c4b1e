import { editJson, tryParseJson } from '../../json/json.ts';
import type { Bill } from '../bill.ts';
import { contentBytes } from '../fields/extra-bytes.ts';
import { isUsableId } from '../fields/host-members.ts';
import { isAbsent, isObject, type Members, objectsIn, removeMembers } from '../fields/members.ts';
import { usageRule } from '../usage/inclusive-usage.ts';
import { type BufferedResponse, HostResponseBroken, type RelayTerms } from '../wire.ts';
import {
  completeItem,
  exactEvent,
  fillArguments,
  identifyItem,
  removeReasoningText,
  setMembers,
} from './complete-item.ts';
import { wrapEncrypted } from './encrypted-reasoning.ts';
import { readStreamError } from './errors.ts';
import { EventNumbers } from './event-numbers.ts';
import { encryptedBytes, foreignItemBytes, nameBytes } from './item-bytes.ts';
import { callKindOf, partKindOf } from './item-kinds.ts';
import { OutputItems } from './output-items.ts';
import { UNWANTED_MEMBERS } from './quirks.ts';
import { completedAt, completeResponse, echoLabels, idStem, responseId } from './response-object.ts';
import { CallRestorer } from './restore-calls.ts';
import { billedUsageText, readUsage } from './usage.ts';

/** Reads a buffered response and writes the host's own bytes with `model` and `usage` replaced; rebuilds it if it needs repair. */
export function spliceResponse(body: Buffer, terms: RelayTerms): BufferedResponse {
  const answer = parseResponse(body);
  const rawUsage = answer.usage;
  const isChanged = mendResponse(answer, terms);
  return {
    usage: readUsage(rawUsage, usageRule(terms.quirks)),
    relayedBytes: objectsIn(answer.output).reduce((sum, item) => sum + wordBytes(item), 0),
    write: (bill) => (isChanged ? rewrite(answer, bill, rawUsage, terms) : splice(body, bill, rawUsage, terms)),
  };
}

/** Parses a finished response; throws HostResponseBroken for anything else. */
export function parseResponse(body: Buffer): Members {
  const json = body.toString('utf8');
  const answer = exactEvent(tryParseJson(json), json);
  if (!isObject(answer)) throw new HostResponseBroken("The host's response is not a JSON object.");
  if (!isAbsent(answer.error)) {
    throw new HostResponseBroken('The host sent a failed response.', readStreamError(answer.error));
  }
  const hasEnded = isAbsent(answer.status) || answer.status === 'completed' || answer.status === 'incomplete';
  if (!Array.isArray(answer.output) || !hasEnded) {
    throw new HostResponseBroken("The host's response is not a finished response.");
  }
  return answer;
}

function splice(body: Buffer, bill: Bill, rawUsage: unknown, { catalogModel, request }: RelayTerms): Buffer {
  const usage = billedUsageText(bill, rawUsage);
  const edit = editJson(body).set(['model'], JSON.stringify(catalogModel)).set(['usage'], usage);
  for (const [name, label] of Object.entries(echoLabels(request))) edit.set([name], JSON.stringify(label));
  return edit.apply();
}

function rewrite(answer: Members, bill: Bill, rawUsage: unknown, { catalogModel }: RelayTerms): Buffer {
  const rest = JSON.stringify({ ...answer, model: catalogModel, usage: undefined });
  return Buffer.from(`${rest.slice(0, -1)},"usage":${billedUsageText(bill, rawUsage)}}`);
}

function mendResponse(answer: Members, terms: RelayTerms): boolean {
  const { requestId, createdS, hideReasoning, request, quirks } = terms;
  const stem = idStem(requestId);
  const isRestored = CallRestorer.for(request, quirks)?.response(answer) ?? false;
  let changed = removeMembers(answer, UNWANTED_MEMBERS) || isRestored;
  objectsIn(answer.output).forEach((item, index) => {
    changed = identifyItem(item, stem, index) || changed;
    changed = completeItem(item, 'completed') || changed;
    changed = (answer.status !== 'incomplete' && fillArguments(item)) || changed;
    changed = wrapEncrypted(item, quirks) || changed;
    changed = (hideReasoning && removeReasoningText(item)) || changed;
  });
  const identity = {
    id: isUsableId(answer.id) ? answer.id : responseId(requestId),
    created_at: answer.created_at ?? createdS,
    status: answer.status ?? 'completed',
    store: false,
    ...echoLabels(request),
  };
  changed = setMembers(answer, identity) || changed;
  changed = setMembers(answer, { completed_at: completedAt(answer, terms.nowS()) }) || changed;
  return completeResponse(answer) || changed;
}

/** UTF-8 bytes that the model wrote in this item, and its opaque or unknown content; as in a stream. */
function wordBytes(item: Members): number {
  const call = callKindOf(item.type);
  let bytes = nameBytes(item) + encryptedBytes(item) + foreignItemBytes(item);
  if (call !== undefined) bytes += Buffer.byteLength(String(item[call.words] ?? ''));
  for (const part of [...objectsIn(item.content), ...objectsIn(item.summary)]) {
    const kind = partKindOf(part.type);
    if (kind !== undefined) bytes += Buffer.byteLength(String(part[kind.words] ?? ''));
    for (const annotation of objectsIn(part.annotations)) bytes += contentBytes(annotation);
  }
  return bytes;
}

/** Some hosts cannot stream and send one JSON body: these are the events it would have been. */
export function responseAsStream(body: Buffer): Buffer | null {
  const json = body.toString('utf8');
  const answer = exactEvent(tryParseJson(json), json);
  if (!isObject(answer) || !Array.isArray(answer.output)) return null;
  const numbers = new EventNumbers();
  const items = new OutputItems(numbers, idStem(String(answer.id ?? '')));
  const begun = {
    ...answer,
    status: 'in_progress',
    output: [],
    usage: null,
    completed_at: null,
    incomplete_details: null,
  };
  const opening =
    numbers.write('response.created', { response: begun }) + numbers.write('response.in_progress', { response: begun });
  const events = objectsIn(answer.output).map((item, index) => items.writeWhole(item, index));
  const status = answer.status === 'failed' || answer.status === 'incomplete' ? answer.status : 'completed';
  return Buffer.from(opening + events.join('') + numbers.write(`response.${status}`, { response: answer }));
}
