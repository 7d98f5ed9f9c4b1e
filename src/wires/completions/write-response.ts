import type { CanonicalResponse } from '../../canonical/events.ts';
import type { Bill } from '../bill.ts';
import type { WriteTerms } from '../hub.ts';
import { promptUsageText } from '../usage/prompt-usage.ts';
import { writeFinishReason } from './finish-reason.ts';

/** Writes a response in the canonical form as a completion. */
export function writeResponse(answer: CanonicalResponse, bill: Bill, terms: WriteTerms): Buffer {
  const text = answer.blocks.map((block) => block.text).join('');
  const completion = {
    id: `cmpl-${terms.requestId}`,
    object: 'text_completion',
    created: answer.createdS ?? terms.createdS,
    model: terms.catalogModel,
    choices: [{ text, index: 0, logprobs: null, finish_reason: writeFinishReason(answer.finish.reason) }],
  };
  return Buffer.from(`${JSON.stringify(completion).slice(0, -1)},"usage":${promptUsageText(bill, null)}}`);
}
