import { editJson, type JsonText, tryParseJson } from '../../json/json.ts';
import { isUsableId } from '../fields/host-members.ts';
import { isObject, isText, type Members, objectsIn } from '../fields/members.ts';
import { parseResponse } from '../parse-response.ts';
import { type BufferedResponse, HostResponseBroken, type RelayTerms } from '../wire.ts';
import { readInBandError } from './errors.ts';
import { blockBytes, mendWholeBlock } from './mend-block.ts';
import { ownMessageId } from './message.ts';
import { HOST_MEMBERS } from './quirks.ts';
import { readUsage, writeBilledUsage } from './usage.ts';

/** Reads a buffered response and writes the host's own bytes with `model` and `usage` replaced; rebuilds it if it needs repair. */
export function spliceResponse(body: Buffer, terms: RelayTerms): BufferedResponse {
  const { text, message } = parseMessage(body);
  const rawUsage = message.usage;
  const splice = mendMessage(message, terms) ? spliceInto(text, message, terms) : spliceBytes(text, message, terms);
  return {
    usage: readUsage(rawUsage),
    relayedBytes: objectsIn(message.content).reduce((sum, block) => sum + blockBytes(block), 0),
    write: (bill) => splice(writeBilledUsage(bill, rawUsage)),
  };
}

interface ParsedMessage {
  readonly text: JsonText;
  readonly message: Members;
}

/** Throws if the body is not a message of this wire; some hosts report an error with status 200. */
export function parseMessage(body: Buffer): ParsedMessage {
  const text = parseResponse(body);
  const message = text.value;
  const error = isObject(message) && isObject(message.error) ? message.error : null;
  if (isObject(message) && Array.isArray(message.content) && error === null) return { text, message };
  const hostError = error === null ? null : readInBandError(error);
  throw new HostResponseBroken("The host's response is not a message.", hostError);
}

/** The last step, once the bill is known. Everything that can fail was done before anything was billed. */
type Splice = (usage: string) => Buffer;

function spliceInto(text: JsonText, message: Members, { catalogModel }: RelayTerms): Splice {
  const rest = JSON.stringify({ ...NULL_MEMBERS, ...message, model: catalogModel, usage: undefined });
  const edit = editJson(Buffer.from(rest));
  (message.content as unknown[]).forEach((block, index) => {
    const input = isObject(block) && block.type === 'tool_use' ? writtenInput(text, index) : null;
    if (input !== null) edit.set(['content', index, 'input'], input);
  });
  const written = edit.apply().subarray(0, -1);
  return (usage) => Buffer.concat([written, Buffer.from(`,"usage":${usage}}`)]);
}

/** The input of a tool call as the host wrote it: a long number would lose digits if it were written again. */
function writtenInput(text: JsonText, index: number): string | null {
  const span = text.locate(['content', index, 'input']);
  const written = span === null ? '' : text.bytes.toString('utf8', span.start, span.end);
  if (written.startsWith('{')) return written;
  const input = tryParseJson(written);
  return typeof input === 'string' && isObject(tryParseJson(input)) ? input : null;
}

function spliceBytes(text: JsonText, message: Members, { catalogModel }: RelayTerms): Splice {
  const model = JSON.stringify(catalogModel);
  const missing = Object.keys(NULL_MEMBERS).filter((name) => message[name] === undefined);
  return (usage) => {
    const edit = text.edit().set(['model'], model).set(['usage'], usage);
    for (const name of missing) edit.set([name], 'null');
    return edit.apply();
  };
}

/** Members of the vendor's types that have no value in most messages; hosts, even the vendor's, leave them out. */
const NULL_MEMBERS: Members = { stop_details: null, container: null, diagnostics: null };

function mendMessage(message: Members, { requestId }: RelayTerms): boolean {
  let changed = false;
  const set = (name: string, value: unknown): void => {
    message[name] = value;
    changed = true;
  };
  for (const name of HOST_MEMBERS) if (message[name] !== undefined) set(name, undefined);
  if (!isUsableId(message.id)) set('id', ownMessageId(requestId));
  if (message.type !== 'message') set('type', 'message');
  if (message.role !== 'assistant') set('role', 'assistant');
  if (message.stop_sequence === undefined) set('stop_sequence', null);
  const blocks = objectsIn(message.content);
  blocks.forEach((block, index) => {
    changed = mendWholeBlock(block, () => `toolu_${requestId}_${index}`) || changed;
  });
  if (!isText(message.stop_reason)) set('stop_reason', likelyStopReason(blocks));
  return changed;
}

/** The likely stop reason, if the host sent none. */
function likelyStopReason(blocks: readonly Members[]): string {
  return blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
}
