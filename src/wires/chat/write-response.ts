import type { CanonicalResponse, FinishReason, ResponseBlock } from '../../canonical/events.ts';
import { stringifyJson } from '../../json/stringify.ts';
import type { Bill } from '../bill.ts';
import { unwrapInput } from '../fields/custom-input.ts';
import type { Members } from '../fields/members.ts';
import type { WriteTerms } from '../hub.ts';
import { writePromptUsage } from '../usage/prompt-usage.ts';
import { customNames } from './custom-tools.ts';
import { opaqueDetail, textDetail } from './reasoning-details.ts';

/** Writes a response in the canonical form as a chat completion. */
export function writeResponse(answer: CanonicalResponse, bill: Bill, terms: WriteTerms): Buffer {
  const usage = { ...writePromptUsage(bill.usage, null), cost: bill.costUsd, cost_nanousd: bill.costNanousd };
  const message = messageOf(answer, customNames(terms.request));
  const completion = {
    id: `chatcmpl-${terms.requestId}`,
    object: 'chat.completion',
    created: answer.createdS ?? terms.createdS,
    model: terms.catalogModel,
    system_fingerprint: null,
    choices: [{ index: 0, message, logprobs: null, finish_reason: answer.finish.reason }],
    usage,
  };
  return Buffer.from(stringifyJson(completion));
}

function messageOf({ blocks, finish }: CanonicalResponse, customs: ReadonlySet<unknown>): Members {
  const textOf = (kind: string): string =>
    blocks
      .filter(({ head }) => head.kind === kind)
      .map(({ text }) => text)
      .join('');
  const refusal = textOf('refusal');
  const text = textOf('text');
  const calls = blocks.flatMap((block) => callOf(block, finish.reason, customs));
  const isWithheld = finish.reason === 'content_filter';
  return {
    role: 'assistant',
    content: text === '' && (calls.length > 0 || refusal !== '' || isWithheld) ? null : text,
    refusal: refusal === '' ? null : refusal,
    ...reasoningMembers(blocks),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

/** Absent if there are none. */
function reasoningMembers(blocks: readonly ResponseBlock[]): Members {
  const traces = blocks.filter(({ head }) => head.kind === 'reasoning');
  if (traces.length === 0) return {};
  const trace = traces.map(({ text }) => text).join('');
  const details = traces.flatMap(detailsOf);
  return {
    ...(trace === '' ? {} : { reasoning: trace, reasoning_content: trace }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
  };
}

/** Signed reasoning is in the same detail as its signature: clients of aggregators drop unsigned reasoning. */
function detailsOf({ text, opaque }: ResponseBlock, index: number): Members[] {
  const words = text === '' ? [] : [textDetail(text, index)];
  if (opaque === null) return words;
  const seal = opaqueDetail(opaque, index, text !== '');
  return opaque.form === 'signature' ? [{ ...words[0], ...seal }] : [...words, seal];
}

/** Clients parse the arguments, and an empty string is not JSON; but what the output limit cut off is not completed. */
function callOf({ head, text }: ResponseBlock, reason: FinishReason, customs: ReadonlySet<unknown>): Members[] {
  if (head.kind !== 'tool-call') return [];
  if (customs.has(head.name))
    return [{ id: head.id, type: 'custom', custom: { name: head.name, input: unwrapInput(text) } }];
  const written = text === '' && reason !== 'length' ? '{}' : text;
  return [{ id: head.id, type: 'function', function: { name: head.name, arguments: written } }];
}
