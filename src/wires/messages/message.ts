import type { Members } from '../fields/members.ts';
import { frameText } from './frames.ts';
import { writeOpeningUsage } from './usage.ts';

/** Every member of the vendor's types with its initial value; hosts leave some out. */
export const EMPTY_MESSAGE: Members = {
  id: '',
  type: 'message',
  role: 'assistant',
  model: '',
  content: [],
  stop_reason: null,
  stop_sequence: null,
  stop_details: null,
  container: null,
  diagnostics: null,
};

export function ownMessageId(requestId: string): string {
  return `msg_${requestId}`;
}

/** The message of a stream's first frame: everything but the content, which clients append. */
export function messageStart(event: Members, host: Members, id: string, model: string): string {
  const identity = { id, type: 'message', role: 'assistant', model, content: [] };
  const message = { ...EMPTY_MESSAGE, ...host, ...identity, usage: writeOpeningUsage(host.usage) };
  return frameText('message_start', JSON.stringify({ ...event, type: 'message_start', message }));
}
