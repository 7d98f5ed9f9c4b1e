import { isAbsent, type Members } from './members.ts';
import { missing, mustBe } from './request-errors.ts';

/** The field `messages`, which at least two wires have. */
export function readMessageList({ messages }: Members): readonly unknown[] {
  if (isAbsent(messages)) throw missing('messages', '`messages` is missing; send at least one message.');
  if (!Array.isArray(messages) || messages.length === 0) throw mustBe('messages', 'a list of at least one message');
  return messages;
}
