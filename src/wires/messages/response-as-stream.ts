import { tryParseExact } from '../../json/json.ts';
import { isObject, type Members, objectsIn } from '../fields/members.ts';
import { blockDelta, blockStart, blockStop, frameText, inputDelta, MESSAGE_STOP, signatureDelta } from './frames.ts';

/** Some hosts cannot stream and send one JSON body: these are the frames it would have been. */
export function responseAsStream(body: Buffer): Buffer | null {
  const answer = tryParseExact(body.toString('utf8'));
  if (!isObject(answer)) return null;
  if (isObject(answer.error)) return Buffer.from(frameText('error', JSON.stringify({ ...answer, type: 'error' })));
  if (!Array.isArray(answer.content)) return null;
  const { stop_reason, stop_sequence, stop_details, container, usage } = answer;
  const message = { ...answer, content: [], stop_reason: null, stop_sequence: null, stop_details: null };
  const delta = { stop_reason, stop_sequence, stop_details, container };
  return Buffer.from(
    [
      frameText('message_start', JSON.stringify({ type: 'message_start', message })),
      ...objectsIn(answer.content).map(blockFrames),
      frameText('message_delta', JSON.stringify({ type: 'message_delta', delta, usage })),
      MESSAGE_STOP,
    ].join(''),
  );
}

/** Splits a block into its head and the deltas of a stream. */
function blockFrames(block: Members, index: number): string {
  const { head, deltas } = split(block, index);
  return blockStart(index, JSON.stringify(head)) + deltas + blockStop(index);
}

function split(block: Members, index: number): { head: Members; deltas: string } {
  switch (block.type) {
    case 'text':
      return { head: { ...block, text: '' }, deltas: delta(index, 'text_delta', 'text', block.text) };
    case 'thinking': {
      const trace = delta(index, 'thinking_delta', 'thinking', block.thinking);
      const signature = typeof block.signature === 'string' ? signatureDelta(index, block.signature) : '';
      return { head: { ...block, thinking: '', signature: '' }, deltas: trace + signature };
    }
    case 'tool_use': {
      const input = typeof block.input === 'string' ? block.input : JSON.stringify(block.input ?? {});
      return { head: { ...block, input: {} }, deltas: inputDelta(index, input) };
    }
    default:
      return { head: block, deltas: '' };
  }
}

function delta(index: number, type: string, member: string, text: unknown): string {
  return typeof text === 'string' && text !== '' ? blockDelta(index, JSON.stringify({ type, [member]: text })) : '';
}
