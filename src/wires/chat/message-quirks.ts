import type { HostQuirks } from '../../canonical/host-quirks.ts';
import type { JsonEdit } from '../../json/json.ts';
import { plainCallId } from '../fields/call-id.ts';
import { isObject, isText, type Members, objectsIn } from '../fields/members.ts';
import { CALL_SIGNATURE, isUnsigned } from './call-signatures.ts';
import { isResellersTag, readOpaque, readReasoningDetails, writeReasoning } from './reasoning-details.ts';

/** Members that hold a turn's reasoning; the last one holds opaque data for its vendor. */
const TRACE_MEMBERS = ['reasoning', 'reasoning_content', 'reasoning_details'] as const;

/** Rewrites messages for this host: roles that it knows, and earlier reasoning in the field that it reads. */
export function editMessages(body: Members, edit: JsonEdit, quirks: HostQuirks, effort: string | null): void {
  const { developerAsSystem, traces, unsignedCall, callIdChars } = quirks;
  const messages = objectsIn(body.messages);
  const isOff = effort === 'none' || (isObject(body.thinking) && body.thinking.type === 'disabled');
  const missing = isOff ? undefined : missingTrace(messages, quirks);
  messages.forEach((message, at) => {
    if (unsignedCall !== undefined && isUnsigned(message))
      edit.set(['messages', at, 'tool_calls', 0, CALL_SIGNATURE], JSON.stringify(unsignedCall));
    if (callIdChars !== undefined) editCallIds(message, ['messages', at], edit, callIdChars);
    if (developerAsSystem === true && message.role === 'developer') edit.set(['messages', at, 'role'], '"system"');
    if (traces !== undefined && message.role === 'assistant')
      renameReasoning(message, ['messages', at], edit, { wanted: traces, missing });
    else if (message.reasoning_details !== undefined) removeForeignDetails(message, ['messages', at], edit, quirks);
  });
}

/** Conversations that began with another vendor's model have its ids. A call and its result get the same one. */
function editCallIds(message: Members, path: readonly (string | number)[], edit: JsonEdit, chars: number): void {
  const replace = (id: unknown, at: readonly (string | number)[]): void => {
    const accepted = typeof id === 'string' ? plainCallId(id, chars) : id;
    if (accepted !== id) edit.set([...path, ...at], JSON.stringify(accepted));
  };
  if (Array.isArray(message.tool_calls)) {
    message.tool_calls.forEach((call, index) => {
      if (isObject(call)) replace(call.id, ['tool_calls', index, 'id']);
    });
  }
  if (message.role === 'tool') replace(message.tool_call_id, ['tool_call_id']);
}

/** Puts an image address that stands alone into an object: most hosts accept no other form. */
export function editImages(body: Members, edit: JsonEdit): void {
  objectsIn(body.messages).forEach(({ content }, at) => {
    if (!Array.isArray(content)) return;
    content.forEach((part, index) => {
      if (!isObject(part) || part.type !== 'image_url' || typeof part.image_url !== 'string') return;
      edit.set(['messages', at, 'content', index, 'image_url'], JSON.stringify({ url: part.image_url }));
    });
  });
}

/**
 * Details with a vendor's tag go back to that vendor's hosts only, and those with a reseller's tag to resellers; details
 * without a tag came from this host.
 */
function removeForeignDetails(
  message: Members,
  path: readonly (string | number)[],
  edit: JsonEdit,
  { seals }: HostQuirks,
): void {
  if (!Array.isArray(message.reasoning_details)) return;
  const isTaken = (tag: string): boolean => (seals === 'any' ? isResellersTag(tag) : tag === seals);
  const isForeign = (detail: unknown): boolean =>
    isObject(detail) && isText(detail.format) && !isTaken(detail.format) && readOpaque(detail) !== null;
  const details: readonly unknown[] = message.reasoning_details;
  const foreign = details.flatMap((detail, index) => (isForeign(detail) ? [index] : []));
  if (foreign.length === 0) return;
  if (foreign.length === details.length) edit.remove([...path, 'reasoning_details']);
  else for (const index of foreign) edit.remove([...path, 'reasoning_details', index]);
}

function renameReasoning(
  message: Members,
  path: readonly (string | number)[],
  edit: JsonEdit,
  { wanted, missing }: { wanted: NonNullable<HostQuirks['traces']>; missing: string | undefined },
): void {
  for (const name of TRACE_MEMBERS) if (name !== wanted) edit.remove([...path, name]);
  if (wanted === 'none' || isText(message[wanted])) return;
  const trace = [message.reasoning, message.reasoning_content].find(isText) ?? textInDetails(message) ?? missing;
  if (trace !== undefined) edit.set([...path, wanted], JSON.stringify(trace));
}

/** Clients of aggregators send back the details alone. */
function textInDetails(message: Members): unknown {
  return writeReasoning(readReasoningDetails(message)).reasoning_content;
}

/** What stands for missing reasoning; hosts insist on it only in conversations with tool calls. */
function missingTrace(messages: readonly Members[], { missingTrace: placeholder }: HostQuirks): string | undefined {
  if (placeholder === undefined) return undefined;
  return messages.some(({ tool_calls: calls }) => objectsIn(calls).length > 0) ? placeholder : undefined;
}

/** The same for messages that this gateway builds. */
export function messagesFor(messages: readonly Members[], quirks: HostQuirks, effort: string | null): Members[] {
  const missing = effort === 'none' ? undefined : missingTrace(messages, quirks);
  return messages.map((message) =>
    withCallIds(withSignedCalls(withReasoningFor(message, quirks, missing), quirks), quirks),
  );
}

function withReasoningFor(message: Members, { traces }: HostQuirks, missing: string | undefined): Members {
  if (traces === undefined || message.role !== 'assistant') return message;
  const { reasoning_content: trace = missing, ...rest } = message;
  return traces === 'none' || trace === undefined ? rest : { ...rest, [traces]: trace };
}

function withSignedCalls(message: Members, { unsignedCall }: HostQuirks): Members {
  if (unsignedCall === undefined || !isUnsigned(message)) return message;
  const [first, ...rest] = objectsIn(message.tool_calls);
  return { ...message, tool_calls: [{ ...first, [CALL_SIGNATURE]: unsignedCall }, ...rest] };
}

function withCallIds(message: Members, { callIdChars }: HostQuirks): Members {
  if (callIdChars === undefined) return message;
  const accepted = (id: unknown): string => plainCallId(String(id), callIdChars);
  if (message.role === 'tool') return { ...message, tool_call_id: accepted(message.tool_call_id) };
  if (message.tool_calls === undefined) return message;
  return { ...message, tool_calls: objectsIn(message.tool_calls).map((call) => ({ ...call, id: accepted(call.id) })) };
}
