import type { EventSink } from '../../canonical/events.ts';
import type { HostQuirks } from '../../canonical/host-quirks.ts';
import type { JsonText } from '../../json/json.ts';
import { isObject, type Members } from '../fields/members.ts';
import { redactedOpaque, signedOpaque } from './opaque-reasoning.ts';
import { readHead } from './read-stream.ts';
import { parseMessage } from './splice-response.ts';
import { readStopReason } from './stop-reason.ts';
import { readUsage } from './usage.ts';

/** Reads a buffered message into events. */
export function readResponse(body: Buffer, _quirks: HostQuirks, emit: EventSink): void {
  const { text, message } = parseMessage(body);
  emit({ kind: 'start', id: typeof message.id === 'string' ? message.id : null, createdS: null });
  let toolsSeen = false;
  (message.content as unknown[]).forEach((block, index) => {
    if (!isObject(block)) return;
    toolsSeen ||= block.type === 'tool_use';
    emitBlock(block, index, text, emit);
  });
  emit({ kind: 'usage', reading: readUsage(message.usage) });
  const raw = typeof message.stop_reason === 'string' ? message.stop_reason : 'end_turn';
  const stopSequence = typeof message.stop_sequence === 'string' ? message.stop_sequence : null;
  emit({ kind: 'finish', reason: readStopReason(raw, toolsSeen), raw, stopSequence });
}

function emitBlock(block: Members, index: number, text: JsonText, emit: EventSink): void {
  const head = readHead(block);
  if (head === null) return;
  emit({ kind: 'block-start', block: head });
  const written = block.type === 'tool_use' ? inputText(block, index, text) : (block.text ?? block.thinking);
  if (typeof written === 'string' && written !== '') emit({ kind: 'block-delta', text: written });
  const isRedacted = block.type === 'redacted_thinking';
  const opaque = isRedacted ? redactedOpaque(String(block.data ?? '')) : signedOpaque(String(block.signature ?? ''));
  emit({ kind: 'block-end', opaque });
}

/** The arguments as written: parsing would change long numbers. */
function inputText({ input }: Members, index: number, text: JsonText): string {
  if (!isObject(input)) return typeof input === 'string' ? input : '';
  const { start, end } = text.locate(['content', index, 'input'])!;
  return text.bytes.toString('utf8', start, end);
}
