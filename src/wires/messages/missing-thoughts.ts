import type { Block, CanonicalMessage } from '../../canonical/request.ts';
import { VENDOR } from './vendor-headers.ts';

/**
 * Whether the tools of a turn are being answered whose reasoning did not come back. With a thinking budget, hosts refuse to
 * go on with such a turn; many clients of other wires do not send reasoning back.
 */
export function lacksThoughts(messages: readonly CanonicalMessage[]): boolean {
  const asking = messages.findLastIndex(({ role }) => role === 'assistant');
  if (!(messages[asking]?.blocks ?? []).some(({ kind }) => kind === 'tool-call')) return false;
  const turns = messages.slice(0, asking + 1);
  const question = turns.findLastIndex(({ role, blocks }) => role === 'user' && !blocks.some(isResult));
  return !turns.slice(question + 1).some(({ blocks }) => blocks.some(isOwnThought));
}

function isResult({ kind }: Block): boolean {
  return kind === 'tool-result';
}

function isOwnThought(block: Block): boolean {
  return block.kind === 'reasoning' && block.opaque?.vendor === VENDOR;
}
