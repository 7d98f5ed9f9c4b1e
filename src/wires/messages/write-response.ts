import type { CanonicalResponse, ResponseBlock } from '../../canonical/events.ts';
import { tryParseJson } from '../../json/json.ts';
import type { Bill } from '../bill.ts';
import { isObject } from '../fields/members.ts';
import type { WriteTerms } from '../hub.ts';
import { EMPTY_MESSAGE, ownMessageId } from './message.ts';
import { isOwnRedacted, writeSignature } from './opaque-reasoning.ts';
import { writeEnding } from './stop-reason.ts';
import { writeBilledUsage } from './usage.ts';

/** Writes a response in the canonical form as a message with every member of the vendor's types. */
export function writeResponse(answer: CanonicalResponse, bill: Bill, terms: WriteTerms): Buffer {
  const refused = answer.blocks.some(({ head }) => head.kind === 'refusal');
  const { content: _, ...message } = EMPTY_MESSAGE;
  const written = JSON.stringify({
    ...message,
    id: ownMessageId(terms.requestId),
    model: terms.catalogModel,
    ...writeEnding(answer.finish, refused),
  });
  const content = answer.blocks.map(writeBlock).join(',');
  return Buffer.from(`${written.slice(0, -1)},"content":[${content}],"usage":${writeBilledUsage(bill, null)}}`);
}

function writeBlock({ head, text, opaque }: ResponseBlock): string {
  switch (head.kind) {
    case 'text':
    case 'refusal':
      return JSON.stringify({ type: 'text', text, citations: null });
    case 'reasoning':
      if (opaque !== null && isOwnRedacted(opaque)) {
        return JSON.stringify({ type: 'redacted_thinking', data: opaque.data });
      }
      return JSON.stringify({
        type: 'thinking',
        thinking: text,
        signature: writeSignature(opaque),
      });
    case 'tool-call': {
      const { id, name } = head;
      const block = JSON.stringify({ type: 'tool_use', id, name, caller: { type: 'direct' } });
      return `${block.slice(0, -1)},"input":${inputJson(text)}}`;
    }
  }
}

/** Arguments that the output limit cut off are passed on as text; they are not completed. */
function inputJson(argumentsJson: string): string {
  if (argumentsJson === '') return '{}';
  return isObject(tryParseJson(argumentsJson)) ? argumentsJson : JSON.stringify(argumentsJson);
}
